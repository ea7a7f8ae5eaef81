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

// Options are the properties of the policies of a selection.
type Options struct {
	// Name is the prefix of the names of all objects, and labels them.
	Name string
	// Version is that of podverdict, and labels all objects. It may be empty.
	Version string
	// Kubernetes is the minor version of the API server, as in 1.37.
	Kubernetes string
	// Target is the kind of objects to guard, and where their Jobs stand.
	Target  Target
	Actions Actions
	// Failure says what happens when an expression cannot be evaluated: Fail or Ignore.
	Failure admissionregistrationv1.FailurePolicyType
	// Static gives the objects names for files of the API server, which end in [StaticSuffix].
	Static bool
	// Namespaces and MatchConditions narrow what is guarded.
	Namespaces      *metav1.LabelSelector
	MatchConditions []admissionregistrationv1.MatchCondition
}

// Policy is a policy with the binding that puts it in force.
type Policy struct {
	Definition *admissionregistrationv1.ValidatingAdmissionPolicy
	Binding    *admissionregistrationv1.ValidatingAdmissionPolicyBinding
	// Rules are the ids of the rules that it holds.
	Rules []string
}

// Policies writes a selection as policies for one target: one for each set of actions, since a binding's actions are
// those of all that its policy holds. There are no policies if no rule is for the target's kind. What is wrong with the user's
// part of it is an *apiserver.CheckError.
func (s *Selection) Policies(o Options) ([]Policy, error) {
	if err := checkVersion(o.Kubernetes); err != nil {
		return nil, err
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
		if err := apiserver.Check(p.Definition, o.Target.Kind, o.Kubernetes); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// held returns the rules that belong to the policy with these actions.
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

// matching says which requests a policy looks at.
type matching struct {
	// component is the label of the set that the policy belongs to.
	component string
	// name is what the policy's name begins with.
	name        string
	constraints *admissionregistrationv1.MatchResources
	conditions  []admissionregistrationv1.MatchCondition
	// selected restricts the binding, or is nil.
	selected *admissionregistrationv1.MatchResources
}

func (s *Selection) matching(o Options) matching {
	f := matching{
		component:   "guardrails",
		name:        o.Name + "-" + s.catalogue.Name,
		constraints: o.Target.matchResources(admissionregistrationv1.Create, admissionregistrationv1.Update),
		conditions:  slices.Concat(commonConditions, o.MatchConditions),
	}
	if o.Target.Kind.Group != batchv1.GroupName { // generated apart from those for Jobs
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

// newPolicy returns a policy of the name that its binding has for it, which shares nothing with others.
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

// commonConditions are the match conditions of every generated policy. They leave out objects that are being
// deleted, and updates that do not change the spec. The rules themselves report only what an update newly breaks
// (newlySaid). The bundle's package admission does the same for a webhook and for Gatekeeper.
var commonConditions = []admissionregistrationv1.MatchCondition{
	{Name: "not-being-deleted", Expression: "!has(object.metadata.deletionTimestamp)"},
	{Name: "created-or-changed", Expression: "oldObject == null || object.spec != oldObject.spec"},
}

// validations returns a validation for each rule: its list of messages is empty. Users see each as a warning or an audit of its own.
func validations(c *Catalogue, held []Rule) []admissionregistrationv1.Validation {
	all := make([]admissionregistrationv1.Validation, len(held))
	for i, r := range held {
		all[i] = saysNothing(ruleVariable(r.ID), fmt.Sprintf("%s %s: %s", c.singular(), r.ID, r.Title))
	}
	return all
}

// saysNothing returns a validation that there is nothing in a list of messages, which is a variable. The other message is for lists
// that cannot be shown.
func saysNothing(variable, message string) admissionregistrationv1.Validation {
	v := "variables." + variable
	return admissionregistrationv1.Validation{
		Expression: "size(" + v + ") == 0", Message: message, MessageExpression: v + `.join("; ")`, Reason: new(metav1.StatusReasonInvalid),
	}
}

// auditAnnotation returns an annotation with the ids of the rules that an object breaks, whatever the actions are.
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
