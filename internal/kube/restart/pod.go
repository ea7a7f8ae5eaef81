package restart

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Restarted is a container that starts again in its Pod, or has restarted before.
type Restarted struct {
	Decision
	Status *corev1.ContainerStatus
	// Exit is the last exit.
	Exit    *corev1.ContainerStateTerminated
	sidecar bool
}

// Why names the field that decided.
func (r *Restarted) Why() string { return r.Decision.Why(r.Status.Name) }

// IsVictim reports whether the container was stopped because another one restarted all containers.
func (r *Restarted) IsVictim() bool { return r.Exit.Reason == Restarting }

// Of returns the containers of a Pod that start again or have restarted before, init containers last. It returns none for a Pod that
// ends.
func Of(pod *corev1.Pod, g Gates) []Restarted {
	if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded || IsInterrupted(pod) {
		return nil
	}
	return restarted(pod, g)
}

// Again returns the containers of a Pod that have just exited and start again, regardless of the Pod's phase. It returns none for a
// Pod that ends: sidecars do not keep the Pod running after its other containers have ended, unless they restart all containers.
func Again(pod *corev1.Pod, g Gates) []Restarted {
	if IsInterrupted(pod) {
		return nil
	}
	again := slices.DeleteFunc(restarted(pod, g), func(r Restarted) bool { return r.Status.State.Terminated == nil })
	if !slices.ContainsFunc(again, func(r Restarted) bool { return r.Action == RestartAllContainers || !r.sidecar }) {
		return nil
	}
	return again
}

func restarted(pod *corev1.Pod, g Gates) []Restarted {
	var all []Restarted
	add := func(containers []corev1.Container, s *corev1.ContainerStatus, init bool) {
		at := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == s.Name })
		last := s.State.Terminated
		if last == nil && s.RestartCount > 0 {
			last = s.LastTerminationState.Terminated
		}
		if at < 0 || last == nil {
			return
		}
		c := &containers[at]
		r := Restarted{Decide(c, &pod.Spec, last.ExitCode, g), s, last, IsSidecar(c, &pod.Spec)}
		if g.AllContainers && r.IsVictim() {
			r.Decision = Decision{Action: RestartAllContainers, Rule: -1}
		}
		done := init && !r.sidecar && last.ExitCode == 0 && r.Action == Restart // computeInitContainerActions continues with the next one
		if r.Action != None && !done {
			all = append(all, r)
		}
	}
	for i := range pod.Status.ContainerStatuses {
		add(pod.Spec.Containers, &pod.Status.ContainerStatuses[i], false)
	}
	for i := range pod.Status.InitContainerStatuses {
		add(pod.Spec.InitContainers, &pod.Status.InitContainerStatuses[i], true)
	}
	return all
}

// IsInterrupted reports whether something other than its containers ends a Pod: the kubelet, as at an eviction or a deadline, or a
// deletion. Nothing restarts in such a Pod.
func IsInterrupted(pod *corev1.Pod) bool {
	disrupts := func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	}
	return pod.DeletionTimestamp != nil || pod.Status.Reason != "" || slices.ContainsFunc(pod.Status.Conditions, disrupts)
}
