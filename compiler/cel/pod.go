package cel

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// NeverStarted reports whether no container of the pod ever ran: the kubelet refused the pod, its image or volumes were not
// available, or it was never scheduled. A container whose state was lost counts as having run.
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

// WaitingReasons returns why the pod's containers wait: each reason once, in the order of the containers.
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

// Restarts returns how often the kubelet has restarted the pod's containers, init containers and sidecars included.
func Restarts(pod *corev1.Pod) (sum int64) {
	for i := range Count(pod) {
		sum += int64(statusAt(pod, i).RestartCount)
	}
	return sum
}

// Age is a function of a pod and the current time: how long the pod has been in a state. It is 0 in any other state.
type Age struct {
	// Since returns when the pod's present state began. The time is zero if the pod is in another state.
	Since func(*corev1.Pod) time.Time
}

// Of returns the age at a moment.
func (a Age) Of(pod *corev1.Pod, now time.Time) time.Duration {
	since := a.Since(pod)
	if since.IsZero() || now.Before(since) {
		return 0
	}
	return now.Sub(since)
}

// Ages are the functions of the library that have an age as their result, by name.
var Ages = map[string]Age{
	PendingForFunction:     {pendingSince},
	RunningForFunction:     {runningSince},
	TerminatingForFunction: {terminatingSince},
	NotReadyForFunction:    {notReadySince},
}

// pendingSince returns when a pod in phase Pending was created.
func pendingSince(pod *corev1.Pod) time.Time {
	if v1alpha1.PhaseOf(pod) != corev1.PodPending {
		return time.Time{}
	}
	return pod.CreationTimestamp.Time
}

// runningSince returns when the kubelet took a pod in phase Running. No field says when the phase began; restarts in place do
// not change the time.
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

// terminatingSince returns when the grace period of a pod that is to be deleted ends: the API server sets deletionTimestamp so.
func terminatingSince(pod *corev1.Pod) time.Time {
	if v1alpha1.PhaseOf(pod) != v1alpha1.PhaseTerminating {
		return time.Time{}
	}
	return pod.DeletionTimestamp.Time
}

// notReadySince returns when a pod in phase Running ceased to be ready, or when it began to run if it never was.
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

// Between reports whether a value is from low to high, both included.
func Between(value, low, high int64) bool { return low <= value && value <= high }
