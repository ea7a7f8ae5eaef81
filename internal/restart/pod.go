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
	all := restarted(pod, pod.Spec.Containers, pod.Status.ContainerStatuses, g)
	return append(all, restarted(pod, pod.Spec.InitContainers, pod.Status.InitContainerStatuses, g)...)
}

func restarted(pod *corev1.Pod, containers []corev1.Container, statuses []corev1.ContainerStatus, g Gates) []Restarted {
	var all []Restarted
	for i := range statuses {
		s := &statuses[i]
		at := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == s.Name })
		last := s.State.Terminated
		if last == nil && s.RestartCount > 0 {
			last = s.LastTerminationState.Terminated
		}
		if at < 0 || last == nil {
			continue
		}
		r := Restarted{Decide(&containers[at], &pod.Spec, last.ExitCode, g), &containers[at], s, last}
		if g.AllContainers && r.IsVictim() {
			r.Decision = Decision{Action: RestartAllContainers, Rule: -1}
		}
		if r.Action != None {
			all = append(all, r)
		}
	}
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
