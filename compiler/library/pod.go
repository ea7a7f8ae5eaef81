package library

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
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

// PendingFor returns how long the pod has been in phase Pending. It returns 0 if the pod is in another phase, or does not say
// when it was created.
func PendingFor(pod *corev1.Pod, now time.Time) time.Duration {
	created := pod.CreationTimestamp
	if pod.Status.Phase != corev1.PodPending || created.IsZero() || now.Before(created.Time) {
		return 0
	}
	return now.Sub(created.Time)
}

// Between reports whether a value is from low to high, both included.
func Between(value, low, high int64) bool { return low <= value && value <= high }
