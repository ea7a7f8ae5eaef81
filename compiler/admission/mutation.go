package admission

import (
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ac "k8s.io/client-go/applyconfigurations/admissionregistration/v1"

	"github.com/podverdict/podverdict/compiler/admission/apiserver"
	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// MutationOptions say which objects get defaults, and from which API server.
type MutationOptions struct {
	// Kubernetes is a version that compiler.ParseVersion takes; empty is compiler.DefaultVersion.
	Kubernetes string
	// Name is the prefix of the names of the objects.
	Name string
	// FailurePolicy says what happens to a Job when a condition of MatchConditions cannot be evaluated. The expressions
	// of the policy itself can be evaluated for every legal Job. Empty means Ignore: a Job is not refused because it got
	// no default.
	FailurePolicy admissionregistrationv1.FailurePolicyType
	// Namespaces restricts the binding; nil is all.
	Namespaces *metav1.LabelSelector
	// MatchConditions must hold besides.
	MatchConditions []MatchCondition
}

// Mutation is a MutatingAdmissionPolicy and the binding that puts it in force (KEP-3962). When an object of the kind is
// created, the policy sets the defaults that the object lacks, and keeps what it has. It sets nothing that the API server
// would refuse: rules for a container only in Jobs that have it, the failure policy only in Jobs that do not restart
// their containers, limits per index only in Indexed Jobs that are small enough. It does not touch an object that has
// everything, so that a second call changes nothing.
type Mutation struct {
	Policy  *ac.MutatingAdmissionPolicyApplyConfiguration
	Binding *ac.MutatingAdmissionPolicyBindingApplyConfiguration
}

// NewMutation writes the policy that gives the defaults to a kind, Job or CronJob, and checks it as the API server would. A
// match condition at fault is an *apiserver.CheckError.
func NewMutation(d Defaults, k kind.Kind, o MutationOptions) (*Mutation, error) {
	api, err := apiserver.MutationAPIOf(o.Kubernetes)
	if err != nil {
		return nil, err
	}
	w, err := newMutationWriter(d, k)
	if err != nil {
		return nil, err
	}
	if o.FailurePolicy == "" {
		o.FailurePolicy = admissionregistrationv1.Ignore
	}
	mutations := w.mutations() // which define the variables
	name := fmt.Sprintf("%s-defaults-%s", o.Name, strings.ToLower(k.Kind))
	spec := ac.MutatingAdmissionPolicySpec().
		WithFailurePolicy(o.FailurePolicy).
		WithReinvocationPolicy(admissionregistrationv1.IfNeededReinvocationPolicy). // a later plugin may make a Job fit for a default
		WithMatchConstraints(ac.MatchResources().WithResourceRules(ac.NamedRuleWithOperations().
			WithOperations(admissionregistrationv1.Create).
			WithAPIGroups(k.Group).WithAPIVersions(k.Version).WithResources(k.Resource))).
		WithMatchConditions(conditions(append([]MatchCondition{{"lacks-a-default", w.condition()}}, o.MatchConditions...))...).
		WithMutations(mutations...)
	for _, variable := range w.variables {
		spec.WithVariables(ac.Variable().WithName(variable.name).WithExpression(variable.expression))
	}
	m := &Mutation{
		Policy:  ac.MutatingAdmissionPolicy(name).WithAPIVersion(api.Version).WithLabels(partOf()).WithSpec(spec),
		Binding: mutationBinding(name, o.Namespaces).WithAPIVersion(api.Version),
	}
	typed, err := m.Typed()
	if err != nil {
		return nil, err
	}
	return m, apiserver.CheckMutation(typed, k, o.Kubernetes)
}

// Typed returns the policy as the API server reads it. The versions of the API differ in nothing but their name.
func (m *Mutation) Typed() (*admissionregistrationv1.MutatingAdmissionPolicy, error) {
	return typed[admissionregistrationv1.MutatingAdmissionPolicy](m.Policy)
}

func mutationBinding(name string, namespaces *metav1.LabelSelector) *ac.MutatingAdmissionPolicyBindingApplyConfiguration {
	spec := ac.MutatingAdmissionPolicyBindingSpec().WithPolicyName(name)
	if namespaces != nil {
		spec.WithMatchResources(ac.MatchResources().WithNamespaceSelector(selector(namespaces)))
	}
	return ac.MutatingAdmissionPolicyBinding(name).WithLabels(partOf()).WithSpec(spec)
}
