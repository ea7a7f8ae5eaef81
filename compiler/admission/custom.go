package admission

import (
	"fmt"
	"maps"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
)

// Custom is a PodFailurePolicy (podverdict.io) and the PodFailurePolicyBinding that binds it, both with the API's
// defaults. Their requirements on Jobs can be written as admission policies.
type Custom struct {
	Policy  *v1alpha1.PodFailurePolicy
	Binding *v1alpha1.PodFailurePolicyBinding
}

// Policies returns admission policies for the Jobs to which the binding applies the PodFailurePolicy, and for the CronJobs
// of such Jobs. The admission policies validate the requirements of the rules. There is one policy per set of actions,
// which the Options select by severity or id as for a Selection, and none if the rules require nothing.
//
// If an admission policy cannot express a match condition of the PodFailurePolicy, the error is a *custom.Error. Any other
// mistake in the policy is an *apiserver.CheckError.
//
// The policies validate Jobs on creation. Options.Failure should be Ignore: a PodFailurePolicy does not apply to a Job for
// which a match condition cannot be evaluated (package binding).
func (c Custom) Policies(e *compiler.Environment, o Options) ([]Policy, error) {
	if err := checkVersion(o.Kubernetes); err != nil {
		return nil, err
	}
	s, err := c.required()
	if err != nil {
		return nil, err
	}
	if o.Target.Kind, err = withQuantities(o.Target.Kind); err != nil {
		return nil, err
	}
	f, err := c.matching(e, o)
	if err != nil {
		return nil, err
	}
	return s.policies(o, f)
}

// Names of the match conditions that are added to the policy's own.
const (
	conditionChanged  = "podverdict.io/created-or-changed"
	conditionSelector = "podverdict.io/job-selector"
)

// matching selects the Jobs to which the policy applies.
func (c Custom) matching(e *compiler.Environment, o Options) (matching, error) {
	f := matching{
		component:   "requirements",
		name:        fmt.Sprintf("%s-requirements-%s", o.Name, c.Binding.Name),
		constraints: o.Target.matchResources(admissionregistrationv1.Create),
	}
	namespaces := both(c.Binding.Spec.NamespaceSelector.Kubernetes(), o.Namespaces)
	jobs, admitted := c.Binding.Spec.JobSelector.Kubernetes(), custom.AdmittedJob
	add := func(name, expression string) {
		f.conditions = append(f.conditions, admissionregistrationv1.MatchCondition{Name: name, Expression: expression})
	}
	if !o.Target.isJob() {
		f.constraints = o.Target.matchResources(admissionregistrationv1.Create, admissionregistrationv1.Update)
		add(conditionChanged, "request.operation == \"CREATE\" || object.spec.jobTemplate != oldObject.spec.jobTemplate")
		if jobs != nil {
			add(conditionSelector, selects(jobs, "object.spec.jobTemplate.metadata.?labels"))
		}
		jobs, admitted = nil, custom.AdmittedCronJob
	}
	asked, err := custom.ForAdmission(e, &c.Policy.Spec, admitted)
	if err != nil {
		return matching{}, err
	}
	for _, m := range asked {
		add(m.Name, m.Expression)
	}
	f.conditions = append(f.conditions, o.MatchConditions...)
	if namespaces != nil || jobs != nil {
		f.selected = &admissionregistrationv1.MatchResources{NamespaceSelector: namespaces, ObjectSelector: jobs}
	}
	return f, nil
}

// both returns the intersection of two selectors. A nil selector selects everything.
func both(a, b *metav1.LabelSelector) *metav1.LabelSelector {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	joined := a.DeepCopy()
	for _, key := range slices.Sorted(maps.Keys(b.MatchLabels)) {
		joined.MatchExpressions = append(joined.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{b.MatchLabels[key]},
		})
	}
	joined.MatchExpressions = append(joined.MatchExpressions, b.MatchExpressions...)
	return joined
}
