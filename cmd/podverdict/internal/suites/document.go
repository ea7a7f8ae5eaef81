package suites

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	apiVersion = "podverdict.io/v1alpha1"
	kind       = "Suite"
)

type document struct {
	// APIVersion is podverdict.io/v1alpha1.
	APIVersion string `json:"apiVersion"`
	// Kind is Suite.
	Kind string `json:"kind"`
	// Metadata has the suite's name.
	Metadata metadata `json:"metadata,omitzero"`
	// Policies are files with PodFailurePolicies, PodFailurePolicyBindings and Namespaces, relative to the suite.
	Policies []string `json:"policies,omitempty"`
	// IgnoreBindings has every policy in force for the suite's Job, whatever the bindings in the files select.
	IgnoreBindings bool `json:"ignoreBindings,omitempty"`
	// Job is a file with the Job; a Job default/job with one container, main, when absent.
	Job string `json:"job,omitempty"`
	// Pods are files with Pods, each of which is a scenario by its name.
	Pods []string `json:"pods,omitempty"`
	// Kubernetes is the version that decides, such as 1.37.
	Kubernetes string `json:"kubernetes,omitempty"`
	// Coverage is what the cases must cover.
	Coverage coverageWanted `json:"coverage,omitzero"`
	// Scenarios are Pods by name, beside those that every suite has.
	Scenarios map[string]scenario `json:"scenarios,omitempty"`
	// Cases are judged one by one.
	Cases []caseDocument `json:"cases"`
}

type metadata struct {
	// Name of the suite in results; that of the file, without _test.yaml, when absent.
	Name string `json:"name,omitempty"`
}

type coverageWanted struct {
	// Threshold is the percentage of the rules that must match in a case, 0 to 100.
	Threshold *int `json:"threshold,omitempty"`
}

// scenario is a Pod, written as changes of another. Pod is there for its type: what is merged is the tree of the file,
// in which null and absent differ.
type scenario struct {
	// From is the scenario that the Pod is built on; failed when absent.
	From string `json:"from,omitempty"`
	// ExitCode is that of the first container.
	ExitCode *int32 `json:"exitCode,omitempty"`
	// Containers are how containers ended, by name.
	Containers map[string]containerEnds `json:"containers,omitempty"`
	// Pod has the fields that differ; null takes a field away.
	Pod *corev1.Pod `json:"pod,omitempty"`
}

// containerEnds is how a container ended.
type containerEnds struct {
	// ExitCode of the container.
	ExitCode *int32 `json:"exitCode,omitempty"`
	// Reason as the kubelet writes it, such as OOMKilled.
	Reason *string `json:"reason,omitempty"`
	// Message of the container's end.
	Message *string `json:"message,omitempty"`
}

type caseDocument struct {
	// Name is a sentence, and the only one of its name in the suite.
	Name     string `json:"name"`
	scenario `json:",inline"`
	// Job has the fields in which the Job differs from the suite's.
	Job *batchv1.Job `json:"job,omitempty"`
	// Attempt is the Pod's number at its index or slot, from 1; one more than Attempts has when absent.
	Attempt *int64 `json:"attempt,omitempty"`
	// Attempts are the earlier attempts, newest first, at most 10.
	Attempts []earlierAttempt `json:"attempts,omitempty"`
	// Node has the fields in which the Pod's node differs from that of the scenario, which is ready unless something has
	// happened to it; null for a node that is gone.
	Node *corev1.Node `json:"node,omitempty"`
	// PendingFor is how long the Pod has been in phase Pending.
	PendingFor *metav1.Duration `json:"pendingFor,omitempty"`
	// RunningFor is how long it has been in phase Running, restarts in place included.
	RunningFor *metav1.Duration `json:"runningFor,omitempty"`
	// NotReadyFor is how long it has been in phase Running without being ready.
	NotReadyFor *metav1.Duration `json:"notReadyFor,omitempty"`
	// TerminatingFor is how long its grace period has been over.
	TerminatingFor *metav1.Duration `json:"terminatingFor,omitempty"`
	// Now is the time at which the Pod is judged; a minute after the beginning of its phase when absent.
	Now *metav1.Time `json:"now,omitempty"`
	// Matches are how often rules with a budget have matched before, by RULE or POLICY/RULE.
	Matches map[string]int32 `json:"matches,omitempty"`
	// Audited has policies that are only audited decide as well.
	Audited bool `json:"audited,omitempty"`
	// Expect is what the verdict must be.
	Expect expectation `json:"expect"`
}

// earlierAttempt is what rules see of an attempt before the Pod's. Nothing is required.
type earlierAttempt struct {
	// Node is the name of the node that it ran on.
	Node string `json:"node,omitempty"`
	// ExitCode is that of its first failed container.
	ExitCode int32 `json:"exitCode,omitempty"`
	// Reason is why it failed, such as OOMKilled or Evicted.
	Reason string `json:"reason,omitempty"`
	// OOMKilled is whether one of its containers was killed for its memory.
	OOMKilled bool `json:"oomKilled,omitempty"`
	// StartTime is when the kubelet took it, and FinishTime when it ended.
	StartTime  metav1.Time `json:"startTime,omitzero"`
	FinishTime metav1.Time `json:"finishTime,omitzero"`
	// Policy and Rule name the rule that decided on it.
	Policy string `json:"policy,omitempty"`
	Rule   string `json:"rule,omitempty"`
}

// expectation is what a verdict must be. Nil fields are not compared.
type expectation struct {
	// Matched is whether a rule decides.
	Matched *bool `json:"matched,omitempty"`
	// Action is FailJob, FailIndex, Ignore or Count, or none for a Pod that no rule on its phase matches, and that has not failed.
	Action *batchv1.PodFailurePolicyAction `json:"action,omitempty"`
	// Policy is the name of the PodFailurePolicy whose rule decides.
	Policy *string `json:"policy,omitempty"`
	// Rule is the name of the rule that decides, or the index of one of the Job's own.
	Rule *intstr.IntOrString `json:"rule,omitempty"`
	// Reason is that of the rule.
	Reason *string `json:"reason,omitempty"`
	// Class is that of the rule.
	Class *string `json:"class,omitempty"`
	// Counted is whether the failure counts towards backoffLimit.
	Counted *bool `json:"counted,omitempty"`
	// UsedUp is whether the action is the one after a budget that is used up.
	UsedUp *bool `json:"usedUp,omitempty"`
	// RetryDelay is how long the Pod's replacement waits, such as 5m.
	RetryDelay *metav1.Duration `json:"retryDelay,omitempty"`
	// Retry is what the Pod of the next attempt has.
	Retry *expectedRetry `json:"retry,omitempty"`
	// Container is the one because of which one of the Job's own rules matched.
	Container *string `json:"container,omitempty"`
	// ExitCode is the one because of which one of the Job's own rules matched.
	ExitCode *int32 `json:"exitCode,omitempty"`
	// Condition is the one because of which one of the Job's own rules matched.
	Condition *corev1.PodConditionType `json:"condition,omitempty"`
	// Message is the whole message of the verdict.
	Message *string `json:"message,omitempty"`
	// MessageContains is a part of the message.
	MessageContains *string `json:"messageContains,omitempty"`
	// MessageError is a part of why the messageExpression could not be evaluated.
	MessageError *string `json:"messageError,omitempty"`
	// Error is a part of why rules could not be evaluated.
	Error *string `json:"error,omitempty"`
	// Ended is whether a Pod in phase Pending, Running or Terminating is ended.
	Ended *bool `json:"ended,omitempty"`
}

// expectedRetry is what the Pod of the next attempt has. Nil fields are not compared.
type expectedRetry struct {
	// Memory is that of containers, by name: the limit, or the request where there is no limit.
	Memory map[string]resource.Quantity `json:"memory,omitempty"`
	// Avoids are the nodes that rules keep it away from, newest first; an empty list is none.
	Avoids []string `json:"avoids,omitempty"`
}
