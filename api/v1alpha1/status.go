package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	strictjson "sigs.k8s.io/json"
)

// ConditionReady is the type of the condition that both kinds have.
const ConditionReady = "Ready"

// Reasons of the condition Ready.
const (
	// ReasonCompiled is that of a policy whose expressions compile: True.
	ReasonCompiled = "Compiled"
	// ReasonInvalidExpressions is that of a policy of which some do not: False. What it said last stays in force.
	ReasonInvalidExpressions = "InvalidExpressions"
	// ReasonPolicyFound is that of a binding to a policy which is ready: True.
	ReasonPolicyFound = "PolicyFound"
	// ReasonPolicyNotFound is that of a binding to a policy that does not exist: False.
	ReasonPolicyNotFound = "PolicyNotFound"
	// ReasonPolicyInvalid is that of a binding to a policy that is not ready: False.
	ReasonPolicyInvalid = "PolicyInvalid"
)

// PodFailurePolicyStatus is what the controller says of a policy.
type PodFailurePolicyStatus struct {
	// observedGeneration is the metadata.generation that the rest of the status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// rules is how many rules there are.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Rules int32 `json:"rules,omitempty"`

	// conditions are what is known of the policy. Ready is True, with reason Compiled, when every expression compiles, and
	// else False, with reason InvalidExpressions.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// typeChecking is what is wrong with the expressions.
	// +optional
	TypeChecking *TypeChecking `json:"typeChecking,omitempty"`

	// lastGood is the last version of the spec that compiled, kept for the time when the spec does not: then it stays in
	// force, also after a restart of the controller. It is left out when it has more than 512 KiB of JSON.
	// +optional
	LastGood *LastGood `json:"lastGood,omitempty"`
}

// MaxLastGood is how large a spec may be, in bytes of JSON, that is kept in a status. Beside it there must be room for the
// spec itself in what etcd takes, which is 1.5 MiB.
const MaxLastGood = 512 << 10

// LastGood is a version of a policy that compiled.
type LastGood struct {
	// generation is the metadata.generation that the spec had.
	// +required
	// +kubebuilder:validation:Minimum=0
	Generation int64 `json:"generation"`

	// spec is as that of the policy. The API server holds it to nothing.
	// +required
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +mapType=atomic
	Spec PodFailurePolicySpec `json:"spec"`
}

// UnmarshalJSON reads what does not fit as a version with nothing in it: the schema lets it be, and one object must not
// break the list that it is part of.
func (g *LastGood) UnmarshalJSON(data []byte) error {
	type plain LastGood
	var read plain
	if strictjson.UnmarshalCaseSensitivePreserveInts(data, &read) != nil {
		read = plain{}
	}
	*g = LastGood(read)
	return nil
}

// TypeChecking is what is wrong with a policy's expressions.
type TypeChecking struct {
	// findings are in the order of the fields that they are about. At most 100.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Findings []Finding `json:"findings,omitempty"`
}

// Finding is something wrong with an expression.
type Finding struct {
	// rule is the name of the rule that the expression is part of. Match conditions and variables are part of none.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Rule string `json:"rule,omitempty"`

	// field is the path of the expression, as spec.rules[2].when.
	// +required
	// +kubebuilder:validation:MaxLength=256
	Field string `json:"field"`

	// message says what is wrong, and where in the expression. It may have several lines. At most 2048 characters.
	// +required
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message"`
}

// PodFailurePolicyBindingStatus is what the controller says of a binding.
type PodFailurePolicyBindingStatus struct {
	// observedGeneration is the metadata.generation that the rest of the status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are what is known of the binding. Ready is True, with reason PolicyFound, when the policy is there and
	// ready, and else False, with reason PolicyNotFound or PolicyInvalid.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// jobs counts the Jobs that have not finished and that the selectors select, whatever the policy's match conditions say.
	// It may be some minutes old. It is absent where the controller does not watch the Jobs of all namespaces and managers.
	// +optional
	Jobs *BoundJobs `json:"jobs,omitempty"`
}

// BoundJobs counts the Jobs that a binding selects.
type BoundJobs struct {
	// selected is how many there are.
	// +required
	// +kubebuilder:validation:Minimum=0
	Selected int32 `json:"selected"`

	// notCarriedOut is in how many of them nobody carries out what the policy says of failed pods.
	// +required
	// +kubebuilder:validation:Minimum=0
	NotCarriedOut int32 `json:"notCarriedOut"`

	// because says why nobody does. It is absent when notCarriedOut is 0. At most 1024 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Because string `json:"because,omitempty"`
}

// Limits of the findings in a status. Lengths are in characters.
const (
	MaxFindings       = 100
	MaxFindingMessage = 2048
)
