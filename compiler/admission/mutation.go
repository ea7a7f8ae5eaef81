package admission

import (
	"encoding/json"
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	ac "k8s.io/client-go/applyconfigurations/admissionregistration/v1"

	"github.com/podverdict/podverdict/compiler"
)

// MutationOptions say who is given defaults, and by which API server.
type MutationOptions struct {
	// Kubernetes is a version that compiler.ParseVersion takes; empty is compiler.DefaultVersion.
	Kubernetes string
	// Name is what the names of the objects begin with.
	Name string
	// FailurePolicy is what happens to a Job when a condition of MatchConditions cannot be evaluated. The expressions of
	// the policy itself can, for every legal Job. Empty is Ignore: a Job is not refused because it was not given a default.
	FailurePolicy admissionregistrationv1.FailurePolicyType
	// Namespaces restricts the binding; nil is all.
	Namespaces *metav1.LabelSelector
	// MatchConditions must hold besides.
	MatchConditions []MatchCondition
}

// Mutation is a MutatingAdmissionPolicy and the binding that puts it in force (KEP-3962). When objects of the kind are
// created, it gives them the defaults that they lack, and leaves alone what they have. What it gives is never what the
// API server refuses: rules for a container only to Jobs that have it, the failure policy only to Jobs that do not
// restart their containers, limits per index only to Indexed Jobs that are small enough. An object that has
// everything is not touched, so that asking again changes nothing.
type Mutation struct {
	Policy  *ac.MutatingAdmissionPolicyApplyConfiguration
	Binding *ac.MutatingAdmissionPolicyBindingApplyConfiguration
}

// mutationVersion is an API version of MutatingAdmissionPolicy, and the first Kubernetes that has it as its newest.
type mutationVersion struct {
	since      *version.Version
	apiVersion string
	// flags are those without which kube-apiserver does not serve it; empty when it does.
	flags string

	kubernetes *version.Version
}

// mutationVersions are all of them, the newest first (pkg/features/kube_features.go, and APILifecycleIntroduced of the
// types). Betas of APIs are off unless they are asked for.
var mutationVersions = [...]mutationVersion{
	{version.MajorMinor(1, 36), "admissionregistration.k8s.io/v1", "", nil},
	{version.MajorMinor(1, 34), "admissionregistration.k8s.io/v1beta1", "--feature-gates=MutatingAdmissionPolicy=true --runtime-config=admissionregistration.k8s.io/v1beta1=true", nil},
	{version.MajorMinor(1, 32), "admissionregistration.k8s.io/v1alpha1", "--feature-gates=MutatingAdmissionPolicy=true --runtime-config=admissionregistration.k8s.io/v1alpha1=true", nil},
}

func mutationVersionOf(kubernetes string) (mutationVersion, error) {
	if kubernetes == "" {
		kubernetes = compiler.DefaultVersion
	}
	v, err := compiler.ParseVersion(kubernetes)
	if err != nil {
		return mutationVersion{}, err
	}
	for _, m := range mutationVersions {
		if v.AtLeast(m.since) {
			m.kubernetes = v
			return m, nil
		}
	}
	return mutationVersion{}, errMutationVersion(v.String())
}

// MutationFlags are the flags that kube-apiserver of a Kubernetes version needs to serve Mutations; empty when it needs
// none. A version that does not have them is an error.
func MutationFlags(kubernetes string) (string, error) {
	v, err := mutationVersionOf(kubernetes)
	return v.flags, err
}

// NewMutation writes the policy that gives the defaults to a kind, Job or CronJob, and checks it as the API server would. A
// match condition at fault is a *CheckError.
func NewMutation(d Defaults, kind Kind, o MutationOptions) (*Mutation, error) {
	v, err := mutationVersionOf(o.Kubernetes)
	if err != nil {
		return nil, err
	}
	w, err := newMutationWriter(d, kind)
	if err != nil {
		return nil, err
	}
	if o.FailurePolicy == "" {
		o.FailurePolicy = admissionregistrationv1.Ignore
	}
	mutations := w.mutations() // which define the variables
	name := fmt.Sprintf("%s-defaults-%s", o.Name, strings.ToLower(kind.Kind))
	spec := ac.MutatingAdmissionPolicySpec().
		WithFailurePolicy(o.FailurePolicy).
		WithReinvocationPolicy(admissionregistrationv1.IfNeededReinvocationPolicy). // a later plugin may make a Job fit for a default
		WithMatchConstraints(ac.MatchResources().WithResourceRules(ac.NamedRuleWithOperations().
			WithOperations(admissionregistrationv1.Create).
			WithAPIGroups(kind.Group).WithAPIVersions(kind.Version).WithResources(kind.Resource))).
		WithMatchConditions(ac.MatchCondition().WithName("lacks-a-default").WithExpression(w.condition())).
		WithMutations(mutations...)
	for _, c := range o.MatchConditions {
		spec.WithMatchConditions(ac.MatchCondition().WithName(c.Name).WithExpression(c.Expression))
	}
	for _, variable := range w.variables {
		spec.WithVariables(ac.Variable().WithName(variable.name).WithExpression(variable.expression))
	}
	m := &Mutation{
		Policy:  ac.MutatingAdmissionPolicy(name).WithAPIVersion(v.apiVersion).WithLabels(partOf()).WithSpec(spec),
		Binding: mutationBinding(name, o.Namespaces).WithAPIVersion(v.apiVersion),
	}
	typed, err := m.Typed()
	if err != nil {
		return nil, err
	}
	return m, CheckMutation(typed, kind, o.Kubernetes)
}

// Typed is the policy as the API server reads it. The versions of the API differ in nothing but their name.
func (m *Mutation) Typed() (*admissionregistrationv1.MutatingAdmissionPolicy, error) {
	text, err := json.Marshal(m.Policy)
	if err != nil {
		return nil, err
	}
	typed := new(admissionregistrationv1.MutatingAdmissionPolicy)
	return typed, json.Unmarshal(text, typed)
}

func mutationBinding(name string, namespaces *metav1.LabelSelector) *ac.MutatingAdmissionPolicyBindingApplyConfiguration {
	spec := ac.MutatingAdmissionPolicyBindingSpec().WithPolicyName(name)
	if namespaces != nil {
		spec.WithMatchResources(ac.MatchResources().WithNamespaceSelector(selector(namespaces)))
	}
	return ac.MutatingAdmissionPolicyBinding(name).WithLabels(partOf()).WithSpec(spec)
}
