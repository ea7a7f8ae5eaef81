package admission

import (
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/compiler/admission/apiserver"
)

// Mutation is a MutatingAdmissionPolicy and its binding (KEP-3962). When an object of the kind is created, the policy sets
// missing defaults and keeps existing values. It sets nothing that the API server would reject: rules for a container are added
// only to Jobs with that container, the failure policy only to Jobs that do not restart their containers, and limits per index
// only to Indexed Jobs that are small enough. It does not change an object that lacks nothing, so that a second call has no
// effect.
type Mutation struct {
	// Policy and Binding have the API version that the API server serves. The versions differ only in their names.
	Policy  *admissionregistrationv1.MutatingAdmissionPolicy
	Binding *admissionregistrationv1.MutatingAdmissionPolicyBinding
}

// NewMutation generates the policy that sets the defaults of a spec in Jobs or CronJobs, the options' target, and checks it as
// the API server would. CheckDefaults must have accepted the defaults. The error for an invalid match condition is an
// *apiserver.CheckError.
//
// Options.Failure decides what happens to a Job when a match condition cannot be evaluated; the expressions of the policy itself
// can be evaluated for every valid Job. Options.Actions is ignored.
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
	mutations := w.mutations() // also defines the variables
	name := o.named(fmt.Sprintf("%s-defaults-%s", o.Name, strings.ToLower(k.Kind)))
	spec := admissionregistrationv1.MutatingAdmissionPolicySpec{
		FailurePolicy:      &o.Failure,
		ReinvocationPolicy: admissionregistrationv1.IfNeededReinvocationPolicy, // a later plugin may make a Job eligible for a default
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
