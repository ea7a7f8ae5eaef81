package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	strictjson "sigs.k8s.io/json"
)

// ConditionReady is the type of the condition that both kinds have.
const ConditionReady = "Ready"

// Reasons of the condition Ready.
const (
	// ReasonCompiled means that the policy's expressions compile. Ready is True.
	ReasonCompiled = "Compiled"
	// ReasonInvalidExpressions means that some expressions do not compile. Ready is False, and the last version that did
	// stays in force.
	ReasonInvalidExpressions = "InvalidExpressions"
	// ReasonNodesNotReadable means that the policy is in force and its rules read nodes, but the controller has no right to read
	// them: the variable node is absent. Ready is False.
	ReasonNodesNotReadable = "NodesNotReadable"
	// ReasonPolicyFound means that the binding's policy is ready. Ready is True.
	ReasonPolicyFound = "PolicyFound"
	// ReasonPolicyNotFound means that the binding's policy does not exist. Ready is False.
	ReasonPolicyNotFound = "PolicyNotFound"
	// ReasonPolicyInvalid means that the binding's policy is not ready. Ready is False.
	ReasonPolicyInvalid = "PolicyInvalid"
)

// PodFailurePolicyStatus is the status of a policy, which the controller writes.
type PodFailurePolicyStatus struct {
	// observedGeneration is the metadata.generation that the status describes.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// rules is the number of rules.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Rules int32 `json:"rules,omitempty"`

	// conditions describe the state of the policy. Ready is True with reason Compiled if every expression compiles, else
	// False with reason InvalidExpressions, or with NodesNotReadable if its rules read nodes and the controller may not.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// typeChecking lists what is wrong with the expressions.
	// +optional
	TypeChecking *TypeChecking `json:"typeChecking,omitempty"`

	// lastGood is the last version of the spec that compiled. It stays in force while the present spec does not compile, even
	// after a restart of the controller. It is left out if its JSON has more than 512 KiB.
	// +optional
	LastGood *LastGood `json:"lastGood,omitempty"`
}

// MaxLastGood is the maximum size, in bytes of JSON, of a spec kept in a status. Object and status together must fit into
// etcd's limit of 1.5 MiB.
const MaxLastGood = 512 << 10

// LastGood is a version of a policy that compiled.
type LastGood struct {
	// generation is the metadata.generation of that spec.
	// +required
	// +kubebuilder:validation:Minimum=0
	Generation int64 `json:"generation"`

	// spec is a policy's spec. The API server does not validate it.
	// +required
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +mapType=atomic
	Spec PodFailurePolicySpec `json:"spec"`
}

// UnmarshalJSON decodes a version, or an empty one if the JSON does not fit: the schema allows anything here, and one object
// must not break a list.
func (g *LastGood) UnmarshalJSON(data []byte) error {
	type plain LastGood
	var read plain
	if strictjson.UnmarshalCaseSensitivePreserveInts(data, &read) != nil {
		read = plain{}
	}
	*g = LastGood(read)
	return nil
}

// TypeChecking lists what is wrong with a policy's expressions.
type TypeChecking struct {
	// findings are in the order of the fields. At most 100.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Findings []Finding `json:"findings,omitempty"`
}

// Finding describes a mistake in an expression.
type Finding struct {
	// rule is the name of the expression's rule. It is empty for match conditions and variables.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Rule string `json:"rule,omitempty"`

	// field is the path of the expression, such as spec.rules[2].when.
	// +required
	// +kubebuilder:validation:MaxLength=256
	Field string `json:"field"`

	// message says what is wrong and where in the expression. It may have several lines. At most 2048 characters.
	// +required
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message"`
}

// PodFailurePolicyBindingStatus is the status of a binding, which the controller writes.
type PodFailurePolicyBindingStatus struct {
	// observedGeneration is the metadata.generation that the status describes.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions describe the state of the binding. Ready is True with reason PolicyFound if the policy exists and is ready,
	// else False with reason PolicyNotFound or PolicyInvalid.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// jobs counts the unfinished Jobs that match the selectors, whatever the policy's match conditions say. It may be some
	// minutes old. It is absent if the controller does not watch the Jobs of all namespaces and managers.
	// +optional
	Jobs *BoundJobs `json:"jobs,omitempty"`
}

// BoundJobs counts the Jobs that a binding selects.
type BoundJobs struct {
	// selected is the number of Jobs.
	// +required
	// +kubebuilder:validation:Minimum=0
	Selected int32 `json:"selected"`

	// notCarriedOut is for how many of them no controller carries out the policy's verdicts.
	// +required
	// +kubebuilder:validation:Minimum=0
	NotCarriedOut int32 `json:"notCarriedOut"`

	// because says why not. It is absent if notCarriedOut is 0. At most 1024 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Because string `json:"because,omitempty"`
}

// Limits of the findings in a status. Lengths are in characters.
const (
	MaxFindings       = 100
	MaxFindingMessage = 2048
)
