package admission

import (
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/compiler/admission/apiserver"
)

// Mutation is a MutatingAdmissionPolicy and the binding that puts it in force (KEP-3962). When an object of the kind is
// created, the policy sets the defaults that the object lacks, and keeps what it has. It sets nothing that the API server
// would refuse: rules for a container only in Jobs that have it, the failure policy only in Jobs that do not restart
// their containers, limits per index only in Indexed Jobs that are small enough. It does not touch an object that has
// everything, so that a second call changes nothing.
type Mutation struct {
	// Policy and Binding are of the API version that the API server has. The versions differ in nothing but their name.
	Policy  *admissionregistrationv1.MutatingAdmissionPolicy
	Binding *admissionregistrationv1.MutatingAdmissionPolicyBinding
}

// NewMutation writes the policy that gives the defaults of a spec, which CheckDefaults has checked, to the options' target, Jobs
// or CronJobs, and checks it as the API server would. A match condition at fault is an *apiserver.CheckError.
//
// Options.Failure says what happens to a Job when a match condition cannot be evaluated; the expressions of the policy itself
// can be evaluated for every legal Job. Options.Actions do not apply.
func NewMutation(defaults *batchv1.JobSpec, o Options) (*Mutation, error) {
	api, err := apiserver.MutationAPIOf(o.Kubernetes)
	if err != nil {
		return nil, err
	}
	k := o.Target.Kind
	w, err := newMutationWriter(defaults, k)
	if err != nil {
		return nil, err
	}
	mutations := w.mutations() // which define the variables
	name := o.named(fmt.Sprintf("%s-defaults-%s", o.Name, strings.ToLower(k.Kind)))
	spec := admissionregistrationv1.MutatingAdmissionPolicySpec{
		FailurePolicy:      &o.Failure,
		ReinvocationPolicy: admissionregistrationv1.IfNeededReinvocationPolicy, // a later plugin may make a Job fit for a default
		MatchConstraints:   matchResources(k.Group, k.Version, k.Resource, admissionregistrationv1.Create),
		MatchConditions:    append([]admissionregistrationv1.MatchCondition{{Name: "lacks-a-default", Expression: w.condition()}}, o.MatchConditions...),
		Variables:          w.variables,
		Mutations:          mutations,
	}
	binding := admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: name}
	if o.Namespaces != nil {
		binding.MatchResources = &admissionregistrationv1.MatchResources{NamespaceSelector: o.Namespaces}
	}
	metadata := metav1.ObjectMeta{Name: name, Labels: o.labels("defaults")}
	m := &Mutation{
		Policy: &admissionregistrationv1.MutatingAdmissionPolicy{
			TypeMeta: metav1.TypeMeta{APIVersion: api.Version, Kind: "MutatingAdmissionPolicy"}, ObjectMeta: metadata, Spec: *spec.DeepCopy(),
		},
		Binding: &admissionregistrationv1.MutatingAdmissionPolicyBinding{
			TypeMeta: metav1.TypeMeta{APIVersion: api.Version, Kind: "MutatingAdmissionPolicyBinding"}, ObjectMeta: *metadata.DeepCopy(), Spec: *binding.DeepCopy(),
		},
	}
	return m, apiserver.CheckMutation(m.Policy, k, o.Kubernetes)
}
