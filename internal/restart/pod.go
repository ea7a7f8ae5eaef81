package restart

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Restarted is a container that starts again in its Pod, or has before.
type Restarted struct {
	Decision
	Container *corev1.Container
	Status    *corev1.ContainerStatus
	// Exit is the last one.
	Exit *corev1.ContainerStateTerminated
}

// IsVictim reports whether the container was stopped because another one restarted all containers.
func (r *Restarted) IsVictim() bool { return r.Exit.Reason == Restarting }

// Of returns the containers of a Pod that start again or have before, init containers last. A Pod that ends has none.
func Of(pod *corev1.Pod, g Gates) []Restarted {
	if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded || IsInterrupted(pod) {
		return nil
	}
	var all []Restarted
	add := func(containers []corev1.Container, statuses []corev1.ContainerStatus) {
		for i := range containers {
			at := slices.IndexFunc(statuses, func(s corev1.ContainerStatus) bool { return s.Name == containers[i].Name })
			if at < 0 {
				continue
			}
			s := &statuses[at]
			last := s.State.Terminated
			if last == nil && s.RestartCount > 0 {
				last = s.LastTerminationState.Terminated
			}
			if last == nil {
				continue
			}
			r := Restarted{Decide(&containers[i], &pod.Spec, last.ExitCode, g), &containers[i], s, last}
			if g.AllContainers && r.IsVictim() {
				r.Decision = Decision{Action: RestartAllContainers, Rule: -1}
			}
			if r.Action != None {
				all = append(all, r)
			}
		}
	}
	add(pod.Spec.Containers, pod.Status.ContainerStatuses)
	add(pod.Spec.InitContainers, pod.Status.InitContainerStatuses)
	return all
}

// IsInterrupted reports whether something else than its containers ends a Pod: the kubelet, as at an eviction or a deadline,
// or a deletion. Nothing restarts in such a Pod.
func IsInterrupted(pod *corev1.Pod) bool {
	disrupts := func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	}
	return pod.DeletionTimestamp != nil || pod.Status.Reason != "" || slices.ContainsFunc(pod.Status.Conditions, disrupts)
}
