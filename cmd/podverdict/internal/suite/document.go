package suite

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	apiVersion = "podverdict.io/v1alpha1"
	kind       = "Suite"
)

// document is a suite as written.
type document struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name,omitempty"`
	} `json:"metadata,omitzero"`
	Policies   []string            `json:"policies,omitempty"`
	Job        string              `json:"job,omitempty"`
	Pods       []string            `json:"pods,omitempty"`
	Kubernetes string              `json:"kubernetes,omitempty"`
	Coverage   coverageWanted      `json:"coverage,omitzero"`
	Scenarios  map[string]scenario `json:"scenarios,omitempty"`
	Cases      []caseDocument      `json:"cases"`
}

type coverageWanted struct {
	Threshold *int `json:"threshold,omitempty"`
}

// scenario is a Pod, written as changes of another. Pod is there for its type: what is merged is the tree of the file,
// in which null and absent differ.
type scenario struct {
	From       string                   `json:"from,omitempty"`
	ExitCode   *int32                   `json:"exitCode,omitempty"`
	Containers map[string]containerEnds `json:"containers,omitempty"`
	Pod        *corev1.Pod              `json:"pod,omitempty"`
}

// containerEnds is how a container ended.
type containerEnds struct {
	ExitCode *int32  `json:"exitCode,omitempty"`
	Reason   *string `json:"reason,omitempty"`
	Message  *string `json:"message,omitempty"`
}

type caseDocument struct {
	Name string `json:"name"`
	scenario
	Job        *batchv1.Job     `json:"job,omitempty"`
	Attempt    *int64           `json:"attempt,omitempty"`
	PendingFor *metav1.Duration `json:"pendingFor,omitempty"`
	Now        *metav1.Time     `json:"now,omitempty"`
	Matches    map[string]int32 `json:"matches,omitempty"`
	Audited    bool             `json:"audited,omitempty"`
	Expect     expectation      `json:"expect"`
}

// expectation is what a verdict must be. Nil fields are not compared.
type expectation struct {
	Matched         *bool                           `json:"matched,omitempty"`
	Action          *batchv1.PodFailurePolicyAction `json:"action,omitempty"`
	Policy          *string                         `json:"policy,omitempty"`
	Rule            *intstr.IntOrString             `json:"rule,omitempty"`
	Reason          *string                         `json:"reason,omitempty"`
	Counted         *bool                           `json:"counted,omitempty"`
	UsedUp          *bool                           `json:"usedUp,omitempty"`
	RetryDelay      *metav1.Duration                `json:"retryDelay,omitempty"`
	Container       *string                         `json:"container,omitempty"`
	ExitCode        *int32                          `json:"exitCode,omitempty"`
	Condition       *corev1.PodConditionType        `json:"condition,omitempty"`
	Message         *string                         `json:"message,omitempty"`
	MessageContains *string                         `json:"messageContains,omitempty"`
	MessageError    *string                         `json:"messageError,omitempty"`
	Error           *string                         `json:"error,omitempty"`
	Deleted         *bool                           `json:"deleted,omitempty"`
}
