package admission

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ac "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
	metaac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/podverdict/podverdict/compiler/admission/apiserver"
	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// Options are the properties of the policies of a selection.
type Options struct {
	// Name is the prefix of the names of all objects.
	Name string
	// Kubernetes is the minor version of the API server, as in 1.37.
	Kubernetes string
	// Target is the kind of objects to guard, and where their Jobs stand.
	Target     Target
	Parameters Parameters
	Actions    Actions
	// Failure says what happens when an expression cannot be evaluated: Fail or Ignore.
	Failure admissionregistrationv1.FailurePolicyType
	// Namespaces and MatchConditions narrow what is guarded.
	Namespaces      *metav1.LabelSelector
	MatchConditions []MatchCondition
}

// MatchCondition is a CEL expression that must be true of a request for the policy to apply.
type MatchCondition struct {
	Name, Expression string
}

// Policy is a policy with the binding that puts it in force.
type Policy struct {
	Definition *ac.ValidatingAdmissionPolicyApplyConfiguration
	Binding    *ac.ValidatingAdmissionPolicyBindingApplyConfiguration
	// Rules are the ids of the rules that it holds.
	Rules []string
}

// Policies writes a selection as policies for one target: one for each set of actions, since a binding's actions are
// those of all that its policy holds. There are no policies if no rule is for the target's kind. What is wrong with the user's
// part of it is an *apiserver.CheckError, and a setting that the parameter object cannot have a *ConfigurationError.
func (s *Selection) Policies(o Options) ([]Policy, error) {
	if err := checkVersion(o.Kubernetes); err != nil {
		return nil, err
	}
	if o.Parameters.live() {
		if err := s.checkLive(o.Parameters); err != nil {
			return nil, err
		}
	}
	return s.policies(o, s.matching(o))
}

// policies writes and checks a policy for each set of actions that some rule has.
func (s *Selection) policies(o Options, f matching) ([]Policy, error) {
	var all []Policy
	for _, actions := range o.Actions.sets() {
		held := s.held(o, actions)
		if len(held) == 0 {
			continue
		}
		p := s.policy(o, held, actions, f)
		if err := o.check(p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func (o Options) check(p Policy) error {
	typed, err := p.Typed()
	if err != nil {
		return err
	}
	params, err := o.parameterKind()
	if err != nil {
		return err
	}
	return apiserver.Check(typed, o.Target.Kind, params, o.Kubernetes)
}

// held returns the rules that belong to the policy with these actions. Where the settings are read while the policy runs,
// a rule that is off may be turned on.
func (s *Selection) held(o Options, actions []admissionregistrationv1.ValidationAction) []Rule {
	candidates := s.enabled()
	if o.Parameters.live() {
		candidates = s.Rules
	}
	var held []Rule
	for _, r := range candidates {
		fits := len(r.only) == 0 || slices.Contains(r.only, o.Target.Kind.Kind)
		if fits && slices.Equal(o.Actions.of(r), actions) {
			held = append(held, r)
		}
	}
	return held
}

// matching says which requests a policy looks at.
type matching struct {
	// name is what the policy's name begins with.
	name        string
	constraints *ac.MatchResourcesApplyConfiguration
	conditions  []*ac.MatchConditionApplyConfiguration
	// selected restricts the binding, or is nil.
	selected *ac.MatchResourcesApplyConfiguration
}

func (s *Selection) matching(o Options) matching {
	f := matching{
		name:        o.Name + "-" + s.catalogue.Name,
		constraints: o.Target.matchResources(admissionregistrationv1.Create, admissionregistrationv1.Update),
		conditions:  o.matchConditions(),
	}
	if o.Namespaces != nil {
		f.selected = ac.MatchResources().WithNamespaceSelector(selector(o.Namespaces))
	}
	return f
}

func (s *Selection) policy(o Options, held []Rule, actions []admissionregistrationv1.ValidationAction, f matching) Policy {
	name := fmt.Sprintf("%s-%s-%s", f.name, strings.ToLower(o.Target.Kind.Kind), actionsName(actions))
	spec := ac.ValidatingAdmissionPolicySpec().
		WithFailurePolicy(o.Failure).
		WithMatchConstraints(f.constraints).
		WithMatchConditions(f.conditions...).
		WithVariables(s.variables(o, held)...).
		WithAuditAnnotations(auditAnnotation(s.catalogue, held))
	if slices.Contains(actions, admissionregistrationv1.Deny) {
		spec.WithVariables(denialVariable(held)).WithValidations(denial(s.catalogue, held))
	} else {
		spec.WithValidations(validations(s.catalogue, held)...)
	}
	if k := o.Parameters.kind(); k != nil {
		spec.WithParamKind(k)
	}
	binding := ac.ValidatingAdmissionPolicyBindingSpec().WithPolicyName(name).WithValidationActions(actions...)
	if ref := o.Parameters.reference(o.Failure); ref != nil {
		binding.WithParamRef(ref)
	}
	if f.selected != nil {
		binding.WithMatchResources(f.selected)
	}
	p := newPolicy(spec, binding)
	for _, r := range held {
		p.Rules = append(p.Rules, r.ID)
	}
	return p
}

// newPolicy returns a policy of the name that its binding has for it.
func newPolicy(spec *ac.ValidatingAdmissionPolicySpecApplyConfiguration, binding *ac.ValidatingAdmissionPolicyBindingSpecApplyConfiguration) Policy {
	name := *binding.PolicyName
	return Policy{
		Definition: ac.ValidatingAdmissionPolicy(name).WithLabels(partOf()).WithSpec(spec),
		Binding:    ac.ValidatingAdmissionPolicyBinding(name).WithLabels(partOf()).WithSpec(binding),
	}
}

// parameterKind returns the kind of the parameter object, or nil without one.
func (o Options) parameterKind() (*kind.Kind, error) {
	read := kind.ConfigMap
	switch o.Parameters.Source {
	case FromConfigMap:
	case FromCustomResource:
		read = parameterKind
	default:
		return nil, nil //nolint:nilnil // there is no object
	}
	k, err := read()
	return &k, err
}

// Typed returns the policy as the API server reads it.
func (p Policy) Typed() (*admissionregistrationv1.ValidatingAdmissionPolicy, error) {
	return typed[admissionregistrationv1.ValidatingAdmissionPolicy](p.Definition)
}

func typed[T any](written any) (*T, error) {
	text, err := json.Marshal(written)
	if err != nil {
		return nil, err
	}
	read := new(T)
	return read, json.Unmarshal(text, read)
}

func partOf() map[string]string { return map[string]string{"app.kubernetes.io/part-of": "podverdict"} }

func selector(s *metav1.LabelSelector) *metaac.LabelSelectorApplyConfiguration {
	selector := metaac.LabelSelector().WithMatchLabels(s.MatchLabels)
	for _, r := range s.MatchExpressions {
		selector.WithMatchExpressions(metaac.LabelSelectorRequirement().WithKey(r.Key).WithOperator(r.Operator).WithValues(r.Values...))
	}
	return selector
}

// commonConditions are the match conditions of every generated policy and template. They leave out objects that are being
// deleted, and updates that do not change the spec. The rules themselves report only what an update newly breaks
// (newlySaid). The bundle's package admission does the same for a webhook.
var commonConditions = []MatchCondition{
	{"not-being-deleted", "!has(object.metadata.deletionTimestamp)"},
	{"created-or-changed", "oldObject == null || object.spec != oldObject.spec"},
}

// matchConditions returns the conditions of every policy, followed by the user's own.
func (o Options) matchConditions() []*ac.MatchConditionApplyConfiguration {
	return conditions(append(slices.Clone(commonConditions), o.MatchConditions...))
}

func conditions(given []MatchCondition) []*ac.MatchConditionApplyConfiguration {
	all := make([]*ac.MatchConditionApplyConfiguration, len(given))
	for i, m := range given {
		all[i] = ac.MatchCondition().WithName(m.Name).WithExpression(m.Expression)
	}
	return all
}

// validations returns a validation for each rule: its list of messages is empty. Users see each as a warning or an audit of its own.
func validations(c *Catalogue, held []Rule) []*ac.ValidationApplyConfiguration {
	all := make([]*ac.ValidationApplyConfiguration, len(held))
	for i, r := range held {
		v := "variables." + ruleVariable(r.ID)
		all[i] = ac.Validation().
			WithExpression("size(" + v + ") == 0").
			WithMessage(fmt.Sprintf("%s %s: %s", c.singular(), r.ID, r.Title)).
			WithMessageExpression(v + `.join("; ")`).
			WithReason(metav1.StatusReasonInvalid)
	}
	return all
}

// auditAnnotation returns an annotation with the ids of the rules that an object breaks, whatever the actions are.
func auditAnnotation(c *Catalogue, held []Rule) *ac.AuditAnnotationApplyConfiguration {
	var broken []string
	for _, r := range held {
		broken = append(broken, fmt.Sprintf("size(variables.%s) == 0 ? \"\" : %s", ruleVariable(r.ID), quote(r.ID)))
	}
	return ac.AuditAnnotation().WithKey(c.Name).
		WithValueExpression("[\n  " + strings.Join(broken, ",\n  ") + "\n].filter(id, id != \"\").join(\" \")")
}
