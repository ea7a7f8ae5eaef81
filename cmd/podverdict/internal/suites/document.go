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
	// Metadata holds the suite's name.
	Metadata metadata `json:"metadata,omitzero"`
	// Policies are files with PodFailurePolicies, PodFailurePolicyBindings and Namespaces, relative to the suite.
	Policies []string `json:"policies,omitempty"`
	// IgnoreBindings applies every policy to the suite's Job, regardless of the bindings in the files.
	IgnoreBindings bool `json:"ignoreBindings,omitempty"`
	// Job is a file with the Job. It defaults to a Job default/job with one container, main.
	Job string `json:"job,omitempty"`
	// Pods are files with Pods. Each Pod becomes a scenario of the same name.
	Pods []string `json:"pods,omitempty"`
	// Kubernetes is the minor version whose behavior applies, such as 1.37.
	Kubernetes string `json:"kubernetes,omitempty"`
	// Coverage is the coverage that the cases must reach.
	Coverage coverageWanted `json:"coverage,omitzero"`
	// Scenarios are Pods by name, in addition to the built-in ones.
	Scenarios map[string]scenario `json:"scenarios,omitempty"`
	// Cases are judged independently of each other.
	Cases []caseDocument `json:"cases"`
}

type metadata struct {
	// Name of the suite in results. It defaults to the file name without _test.yaml.
	Name string `json:"name,omitempty"`
}

type coverageWanted struct {
	// Threshold is the minimum coverage, 0 to 100 percent.
	Threshold *int `json:"threshold,omitempty"`
}

// scenario is a Pod written as changes to another one. Pod is used only to check the fields: the merge uses the tree from the
// file, because null differs from absent.
type scenario struct {
	// From is the scenario on which the Pod is based. It defaults to failed.
	From string `json:"from,omitempty"`
	// ExitCode is the exit code of the first container.
	ExitCode *int32 `json:"exitCode,omitempty"`
	// Containers describes how containers ended, by name.
	Containers map[string]containerEnds `json:"containers,omitempty"`
	// Pod holds the fields that differ. Null removes a field.
	Pod *corev1.Pod `json:"pod,omitempty"`
}

// containerEnds describes how a container ended.
type containerEnds struct {
	// ExitCode is the container's exit code.
	ExitCode *int32 `json:"exitCode,omitempty"`
	// Reason is the reason set by the kubelet, such as OOMKilled.
	Reason *string `json:"reason,omitempty"`
	// Message is the container's termination message.
	Message *string `json:"message,omitempty"`
}

type caseDocument struct {
	// Name is a sentence that is unique in the suite.
	Name     string `json:"name"`
	scenario `json:",inline"`
	// Job holds the fields that differ from the suite's Job.
	Job *batchv1.Job `json:"job,omitempty"`
	// Attempt is the Pod's attempt number at its index or slot, starting at 1. It defaults to one more than the number of
	// Attempts.
	Attempt *int64 `json:"attempt,omitempty"`
	// Attempts are the earlier attempts, newest first, at most 10.
	Attempts []earlierAttempt `json:"attempts,omitempty"`
	// Node holds the fields that differ from the scenario's node, which is ready unless the scenario affects it. Null means that
	// the node has been deleted.
	Node *corev1.Node `json:"node,omitempty"`
	// PendingFor is the time the Pod has been in phase Pending.
	PendingFor *metav1.Duration `json:"pendingFor,omitempty"`
	// RunningFor is the time the Pod has been in phase Running, including restarts in place.
	RunningFor *metav1.Duration `json:"runningFor,omitempty"`
	// NotReadyFor is the time the Pod has been in phase Running without being ready.
	NotReadyFor *metav1.Duration `json:"notReadyFor,omitempty"`
	// TerminatingFor is the time since the Pod's grace period ended.
	TerminatingFor *metav1.Duration `json:"terminatingFor,omitempty"`
	// Now is the time at which the Pod is judged. It defaults to one minute after its phase began.
	Now *metav1.Time `json:"now,omitempty"`
	// Matches counts the earlier matches of rules with a budget, by RULE or POLICY/RULE.
	Matches map[string]int32 `json:"matches,omitempty"`
	// Audited makes policies in audit mode decide, too.
	Audited bool `json:"audited,omitempty"`
	// Expect is the expected verdict.
	Expect expectation `json:"expect"`
}

// earlierAttempt describes an attempt before the Pod's in the form that rules read. All fields are optional.
type earlierAttempt struct {
	// Node is the name of the attempt's node.
	Node string `json:"node,omitempty"`
	// ExitCode is the exit code of the first failed container.
	ExitCode int32 `json:"exitCode,omitempty"`
	// Reason is the reason for the failure, such as OOMKilled or Evicted.
	Reason string `json:"reason,omitempty"`
	// OOMKilled reports whether a container was killed for exceeding its memory limit.
	OOMKilled bool `json:"oomKilled,omitempty"`
	// StartTime is when the kubelet accepted the Pod, and FinishTime when the Pod ended.
	StartTime  metav1.Time `json:"startTime,omitzero"`
	FinishTime metav1.Time `json:"finishTime,omitzero"`
	// Policy and Rule name the rule that decided.
	Policy string `json:"policy,omitempty"`
	Rule   string `json:"rule,omitempty"`
}

// expectation describes a verdict. Nil fields are not compared.
type expectation struct {
	// Matched reports whether a rule decides.
	Matched *bool `json:"matched,omitempty"`
	// Action is FailJob, FailIndex, Ignore or Count. It is none for a Pod that has not failed and matches no rule on its phase.
	Action *batchv1.PodFailurePolicyAction `json:"action,omitempty"`
	// Policy is the name of the PodFailurePolicy whose rule decides.
	Policy *string `json:"policy,omitempty"`
	// Rule is the name of the rule that decides, or the index of a rule in the Job's own podFailurePolicy.
	Rule *intstr.IntOrString `json:"rule,omitempty"`
	// Reason is the reason set by the rule.
	Reason *string `json:"reason,omitempty"`
	// Class is the class set by the rule.
	Class *string `json:"class,omitempty"`
	// Counted reports whether the failure counts towards backoffLimit.
	Counted *bool `json:"counted,omitempty"`
	// UsedUp reports whether the action is the one that follows a used-up budget.
	UsedUp *bool `json:"usedUp,omitempty"`
	// RetryDelay is the delay before the Pod is replaced, such as 5m.
	RetryDelay *metav1.Duration `json:"retryDelay,omitempty"`
	// Retry describes the Pod of the next attempt.
	Retry *expectedRetry `json:"retry,omitempty"`
	// Container is the container that one of the Job's own rules matched.
	Container *string `json:"container,omitempty"`
	// ExitCode is the exit code that one of the Job's own rules matched.
	ExitCode *int32 `json:"exitCode,omitempty"`
	// Condition is the Pod condition that one of the Job's own rules matched.
	Condition *corev1.PodConditionType `json:"condition,omitempty"`
	// Message is the complete message of the verdict.
	Message *string `json:"message,omitempty"`
	// MessageContains is a substring of the message.
	MessageContains *string `json:"messageContains,omitempty"`
	// MessageError is a substring of the error from evaluating messageExpression.
	MessageError *string `json:"messageError,omitempty"`
	// Error is a substring of the error from evaluating the rules.
	Error *string `json:"error,omitempty"`
	// Ended reports whether a Pod in phase Pending, Running or Terminating is ended.
	Ended *bool `json:"ended,omitempty"`
}

// expectedRetry describes the Pod of the next attempt. Nil fields are not compared.
type expectedRetry struct {
	// Memory is the memory limit by container name, or the request if there is no limit.
	Memory map[string]resource.Quantity `json:"memory,omitempty"`
	// Avoids are the nodes that rules exclude, newest first. An empty list expects none.
	Avoids []string `json:"avoids,omitempty"`
}
