package admission

import (
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/compiler/admission/apiserver"
)

// Options configures the policies of a selection.
type Options struct {
	// Name is the prefix of all object names, and the value of a label.
	Name string
	// Version is the version of podverdict for a label. It may be empty.
	Version string
	// Kubernetes is the minor version of the API server, as in 1.37.
	Kubernetes string
	// Target is the kind of objects to validate, and the location of their Jobs.
	Target  Target
	Actions Actions
	// Failure is what happens when an expression cannot be evaluated: Fail or Ignore.
	Failure admissionregistrationv1.FailurePolicyType
	// Static gives the objects names for the API server's manifest files, which end in [StaticSuffix].
	Static bool
	// Namespaces and MatchConditions restrict the matched objects.
	Namespaces      *metav1.LabelSelector
	MatchConditions []admissionregistrationv1.MatchCondition
}

// Policy is a policy and its binding.
type Policy struct {
	Definition *admissionregistrationv1.ValidatingAdmissionPolicy
	Binding    *admissionregistrationv1.ValidatingAdmissionPolicyBinding
	// Rules are the ids of the policy's rules.
	Rules []string
}

// Policies generates the policies of a selection for one target: one for each set of actions, because a binding's actions apply to
// all rules of its policy. It returns none if no rule applies to the target's kind. The error for mistakes in the user's part is an
// *apiserver.CheckError.
func (s *Selection) Policies(o Options) ([]Policy, error) {
	if err := checkVersion(o.Kubernetes); err != nil {
		return nil, err
	}
	return s.policies(o, s.matching(o))
}

// policies generates and checks a policy for each set of actions that some rule has.
func (s *Selection) policies(o Options, f matching) ([]Policy, error) {
	var all []Policy
	for _, actions := range o.Actions.sets() {
		held := s.held(o, actions)
		if len(held) == 0 {
			continue
		}
		p := s.policy(o, held, actions, f)
		if err := apiserver.Check(p.Definition, o.Target.Kind, o.Kubernetes); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// held returns the rules of the policy with these actions.
func (s *Selection) held(o Options, actions []admissionregistrationv1.ValidationAction) []Rule {
	var held []Rule
	for _, r := range s.enabled() {
		fits := len(r.Kinds) == 0 || slices.Contains(r.Kinds, o.Target.Kind.Kind)
		if fits && slices.Equal(o.Actions.of(r), actions) {
			held = append(held, r)
		}
	}
	return held
}

// matching selects the requests that a policy matches.
type matching struct {
	// component is the component label of the policy's set.
	component string
	// name is the prefix of the policy's name.
	name        string
	constraints *admissionregistrationv1.MatchResources
	conditions  []admissionregistrationv1.MatchCondition
	// selected restricts the binding. It may be nil.
	selected *admissionregistrationv1.MatchResources
}

func (s *Selection) matching(o Options) matching {
	f := matching{
		component:   "guardrails",
		name:        o.Name + "-" + s.catalogue.Name,
		constraints: o.Target.matchResources(admissionregistrationv1.Create, admissionregistrationv1.Update),
		conditions:  slices.Concat(commonConditions, o.MatchConditions),
	}
	if o.Target.Kind.Group != batchv1.GroupName { // generated separately from the policies for Jobs
		f.component += "-" + strings.ToLower(o.Target.Kind.Kind)
	}
	if o.Namespaces != nil {
		f.selected = &admissionregistrationv1.MatchResources{NamespaceSelector: o.Namespaces}
	}
	return f
}

func (s *Selection) policy(o Options, held []Rule, actions []admissionregistrationv1.ValidationAction, f matching) Policy {
	name := o.named(fmt.Sprintf("%s-%s-%s", f.name, strings.ToLower(o.Target.Kind.Kind), o.Actions.role(actions, held)))
	spec := admissionregistrationv1.ValidatingAdmissionPolicySpec{
		FailurePolicy:    &o.Failure,
		MatchConstraints: f.constraints,
		MatchConditions:  f.conditions,
		Variables:        s.variables(o, held),
		AuditAnnotations: []admissionregistrationv1.AuditAnnotation{auditAnnotation(s.catalogue, held)},
	}
	if slices.Contains(actions, admissionregistrationv1.Deny) {
		spec.Variables = append(spec.Variables, denialVariable(held))
		spec.Validations = []admissionregistrationv1.Validation{denial(s.catalogue, held)}
	} else {
		spec.Validations = validations(s.catalogue, held)
	}
	p := newPolicy(spec, o.labels(f.component), admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: name, ValidationActions: actions, MatchResources: f.selected,
	})
	for _, r := range held {
		p.Rules = append(p.Rules, r.ID)
	}
	return p
}

// newPolicy returns a policy with the name that its binding refers to. It shares no memory with other policies.
func newPolicy(
	spec admissionregistrationv1.ValidatingAdmissionPolicySpec, labels map[string]string, binding admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec,
) Policy {
	version, metadata := admissionregistrationv1.SchemeGroupVersion.String(), metav1.ObjectMeta{Name: binding.PolicyName, Labels: labels}
	return Policy{
		Definition: &admissionregistrationv1.ValidatingAdmissionPolicy{
			TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "ValidatingAdmissionPolicy"}, ObjectMeta: metadata, Spec: *spec.DeepCopy(),
		},
		Binding: &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
			TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "ValidatingAdmissionPolicyBinding"}, ObjectMeta: *metadata.DeepCopy(), Spec: *binding.DeepCopy(),
		},
	}
}

// commonConditions are the match conditions of every generated policy. They exclude objects that are being deleted, and updates that
// do not change the spec. The rules themselves report only new violations in an update (newlySaid). The bundle's package admission
// does the same for a webhook and for Gatekeeper.
var commonConditions = []admissionregistrationv1.MatchCondition{
	{Name: "not-being-deleted", Expression: "!has(object.metadata.deletionTimestamp)"},
	{Name: "created-or-changed", Expression: "oldObject == null || object.spec != oldObject.spec"},
}

// validations returns a validation for each rule: its list of messages is empty. Users see each as a separate warning or audit
// entry.
func validations(c *Catalogue, held []Rule) []admissionregistrationv1.Validation {
	all := make([]admissionregistrationv1.Validation, len(held))
	for i, r := range held {
		all[i] = saysNothing(ruleVariable(r.ID), fmt.Sprintf("%s %s: %s", c.singular(), r.ID, r.Title))
	}
	return all
}

// saysNothing returns a validation that a variable with a list of messages is empty. The argument message is the fallback if the
// list cannot be evaluated as a message.
func saysNothing(variable, message string) admissionregistrationv1.Validation {
	v := "variables." + variable
	return admissionregistrationv1.Validation{
		Expression: "size(" + v + ") == 0", Message: message, MessageExpression: v + `.join("; ")`, Reason: new(metav1.StatusReasonInvalid),
	}
}

// auditAnnotation returns an annotation with the ids of the broken rules, regardless of the actions.
func auditAnnotation(c *Catalogue, held []Rule) admissionregistrationv1.AuditAnnotation {
	var broken []string
	for _, r := range held {
		broken = append(broken, fmt.Sprintf("size(variables.%s) == 0 ? \"\" : %s", ruleVariable(r.ID), quote(r.ID)))
	}
	return admissionregistrationv1.AuditAnnotation{
		Key:             c.Name,
		ValueExpression: "[\n  " + strings.Join(broken, ",\n  ") + "\n].filter(id, id != \"\").join(\" \")",
	}
}
