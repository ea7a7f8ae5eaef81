package cel

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// NeverStarted reports whether no container of the pod ever ran: the kubelet rejected the pod, its image or volumes were
// unavailable, or it was never scheduled. A container whose state was lost counts as having run.
func NeverStarted(pod *corev1.Pod) bool {
	return !slices.ContainsFunc(pod.Status.ContainerStatuses, ran) &&
		!slices.ContainsFunc(pod.Status.InitContainerStatuses, ran)
}

func ran(c corev1.ContainerStatus) bool {
	last := c.LastTerminationState.Terminated
	return c.State.Running != nil || c.RestartCount > 0 ||
		c.State.Terminated != nil && !isStartError(c.State.Terminated) || last != nil && !isStartError(last)
}

// isStartError reports whether a container has terminated without running, by the reasons of containerd, CRI-O and Docker.
func isStartError(t *corev1.ContainerStateTerminated) bool {
	return t.Reason == "StartError" || t.Reason == "ContainerCannotRun"
}

// WaitingReasons returns the distinct reasons why the pod's containers wait, in container order.
func WaitingReasons(pod *corev1.Pod) []string {
	reasons := []string{}
	seen := map[string]bool{"": true}
	for i := range Count(pod) {
		if w := statusAt(pod, i).State.Waiting; w != nil && !seen[w.Reason] {
			reasons, seen[w.Reason] = append(reasons, w.Reason), true
		}
	}
	return reasons
}

// HasWaitingReason reports whether WaitingReasons includes a reason.
func HasWaitingReason(pod *corev1.Pod, reason string) bool {
	for i := range Count(pod) {
		if w := statusAt(pod, i).State.Waiting; w != nil && w.Reason == reason && reason != "" {
			return true
		}
	}
	return false
}

// Unschedulable reports whether the scheduler has found no node for the pod.
func Unschedulable(pod *corev1.Pod) bool {
	c := ConditionOf(pod, string(corev1.PodScheduled)).condition
	return c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
}

// Restarts returns the total number of restarts of the pod's containers, including init containers and sidecars.
func Restarts(pod *corev1.Pod) (sum int64) {
	for i := range Count(pod) {
		sum += int64(statusAt(pod, i).RestartCount)
	}
	return sum
}

// Age is a function of a pod and the current time that returns how long the pod has been in a state. It returns 0 for a pod in
// any other state.
type Age struct {
	// Since returns the start of the pod's state, or the zero time if the pod is in another state.
	Since func(*corev1.Pod) time.Time
}

// Of returns the age at the given time.
func (a Age) Of(pod *corev1.Pod, now time.Time) time.Duration {
	since := a.Since(pod)
	if since.IsZero() || now.Before(since) {
		return 0
	}
	return now.Sub(since)
}

// Ages maps the names of the library functions that return an age to their definitions.
var Ages = map[string]Age{
	PendingForFunction:     {pendingSince},
	RunningForFunction:     {runningSince},
	TerminatingForFunction: {terminatingSince},
	NotReadyForFunction:    {notReadySince},
}

// pendingSince returns the creation time of a pod in phase Pending.
func pendingSince(pod *corev1.Pod) time.Time {
	if v1alpha1.PhaseOf(pod) != corev1.PodPending {
		return time.Time{}
	}
	return pod.CreationTimestamp.Time
}

// runningSince returns the time at which the kubelet accepted a pod in phase Running. No field records the start of the phase.
// Restarts in place do not change the time.
func runningSince(pod *corev1.Pod) time.Time {
	switch start := pod.Status.StartTime; {
	case v1alpha1.PhaseOf(pod) != corev1.PodRunning:
		return time.Time{}
	case start.IsZero():
		return pod.CreationTimestamp.Time
	default:
		return start.Time
	}
}

// terminatingSince returns the end of the grace period of a pod that is being deleted. The API server sets deletionTimestamp to
// that time.
func terminatingSince(pod *corev1.Pod) time.Time {
	if v1alpha1.PhaseOf(pod) != v1alpha1.PhaseTerminating {
		return time.Time{}
	}
	return pod.DeletionTimestamp.Time
}

// notReadySince returns the time at which a pod in phase Running stopped being ready, or at which it started running if it was
// never ready.
func notReadySince(pod *corev1.Pod) time.Time {
	if v1alpha1.PhaseOf(pod) != corev1.PodRunning {
		return time.Time{}
	}
	switch ready := ConditionOf(pod, string(corev1.PodReady)).condition; {
	case ready.Status == corev1.ConditionTrue:
		return time.Time{}
	case ready.LastTransitionTime.IsZero():
		return runningSince(pod)
	default:
		return ready.LastTransitionTime.Time
	}
}

// Between reports whether low <= value <= high.
func Between(value, low, high int64) bool { return low <= value && value <= high }
