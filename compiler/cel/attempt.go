package cel

import (
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	corev1 "k8s.io/api/core/v1"
	apitypes "k8s.io/apimachinery/pkg/types"
)

// MaxAttempts is the maximum number of earlier attempts that rules see, counted from the last one.
const MaxAttempts = 10

// maxReason is the maximum length in bytes of the reason of an Attempt. Kubernetes' own reasons are far shorter.
const maxReason = 256

// Attempt is an earlier failed attempt at a pod's index, or at the work of a Job without indexes.
type Attempt struct {
	// Pod is the pod's UID, because pod names are reused. Expressions cannot read it.
	Pod apitypes.UID `json:"pod,omitempty"`
	// Node is the name of the node it ran on, or empty if it was not scheduled.
	Node string `json:"node,omitempty"`
	// ExitCode is the exit code of the first failed container, or 0 if none failed.
	ExitCode int32 `json:"exitCode,omitempty"`
	// Reason is the reason of the pod, or else of its disruption, or else of the first failed container.
	Reason string `json:"reason,omitempty"`
	// OOMKilled reports whether a failed container was OOM-killed.
	OOMKilled bool `json:"oomKilled,omitempty"`
	// StartTime is the time at which the kubelet accepted the pod, or its creation time if that never happened. Times are
	// in UTC.
	StartTime  time.Time `json:"startTime,omitzero"`
	FinishTime time.Time `json:"finishTime,omitzero"`
	// Policy and Rule name the rule that decided on the failure. Both are empty if no rule matched; Policy is empty for the
	// Job's podFailurePolicy, and Rule for a rule without a name.
	Policy string `json:"policy,omitempty"`
	Rule   string `json:"rule,omitempty"`
}

// AttemptOf returns a failed pod as an attempt, without the rule that decided on it.
func AttemptOf(pod *corev1.Pod, finish time.Time) Attempt {
	a := Attempt{Pod: pod.UID, Node: pod.Spec.NodeName, Reason: pod.Status.Reason, StartTime: pod.CreationTimestamp.UTC(), FinishTime: finish.UTC()}
	if pod.Status.StartTime != nil {
		a.StartTime = pod.Status.StartTime.UTC()
	}
	if disruption := ConditionOf(pod, string(corev1.DisruptionTarget)); a.Reason == "" && disruption.status() == string(corev1.ConditionTrue) {
		a.Reason = disruption.reason()
	}
	first := true
	for i := range Count(pod) {
		if !FailedAt(pod, i) {
			continue
		}
		ended := statusAt(pod, i).State.Terminated
		a.OOMKilled = a.OOMKilled || ended.Reason == reasonOOMKilled
		if first {
			first, a.ExitCode = false, ended.ExitCode
			if a.Reason == "" {
				a.Reason = ended.Reason
			}
		}
	}
	if len(a.Reason) > maxReason {
		a.Reason = strings.ToValidUTF8(a.Reason[:maxReason], "")
	}
	return a
}

// OOMKilled returns the names of the pod's containers of all kinds that were killed for using too much memory.
func OOMKilled(pod *corev1.Pod) []string {
	var names []string
	for i := range Count(pod) {
		if status := statusAt(pod, i); status.State.Terminated != nil && status.State.Terminated.Reason == reasonOOMKilled {
			names = append(names, status.Name)
		}
	}
	return names
}

// AttemptType is the type of an Attempt in CEL.
var AttemptType = attemptType.CEL

// AttemptReads are the Pod fields that AttemptOf reads.
var AttemptReads = slices.Concat(ofContainers, ofConditions, []string{
	"Pod.metadata", "ObjectMeta.uid", "ObjectMeta.creationTimestamp", "PodSpec.nodeName", "PodStatus.startTime", "PodStatus.reason",
	"PodCondition.status", "PodCondition.reason", "ContainerStateTerminated.reason",
})

// AttemptList returns attempts as a CEL value.
func AttemptList(attempts []Attempt) ref.Val {
	values := make([]ref.Val, len(attempts))
	for i := range attempts {
		values[i] = record{attemptType, attempts[i]}
	}
	return types.NewRefValList(types.DefaultTypeAdapter, values)
}
