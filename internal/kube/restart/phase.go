package restart

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Restarting is the reason of a container that was stopped because another one restarts all containers. Such a container
// starts again regardless of its exit code.
const Restarting = "RestartingAllContainers"

// Phase returns the phase that the kubelet derives from the states of a Pod's containers. ended reports whether the kubelet
// itself ends the Pod, as at an eviction or a deadline, so that nothing restarts. initialized reports whether a container
// has started after the init containers.
func Phase(pod *corev1.Pod, ended, initialized bool, g Gates) corev1.PodPhase {
	t := tally{pod: &pod.Spec, gates: g}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		status := statusOf(pod.Status.InitContainerStatuses, c.Name)
		if isAlways(c) {
			t.sidecar(status, initialized)
		} else {
			t.initContainer(c, status)
		}
	}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		t.container(c, statusOf(pod.Status.ContainerStatuses, c.Name))
	}
	return t.phase(ended)
}

func statusOf(statuses []corev1.ContainerStatus, name string) corev1.ContainerStatus {
	if i := slices.IndexFunc(statuses, func(s corev1.ContainerStatus) bool { return s.Name == name }); i >= 0 {
		return statuses[i]
	}
	return corev1.ContainerStatus{}
}

// exit returns the end of a container that does not run: its current one, or the last one if it waits to start again.
func exit(status corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	switch state := status.State; {
	case state.Running != nil:
		return nil
	case state.Terminated != nil:
		return state.Terminated
	case state.Waiting != nil:
		return status.LastTerminationState.Terminated
	default:
		return nil
	}
}

// tally aggregates the states of a Pod's containers.
type tally struct {
	pod   *corev1.PodSpec
	gates Gates

	initFailed bool // an init container has failed and does not restart
	pending    bool // a container has never run, or an init container runs
	running    bool

	// The numbers of regular containers.
	stopped, restarting, succeeded int
}

func (t *tally) initContainer(c *corev1.Container, status corev1.ContainerStatus) {
	ended := exit(status)
	t.pending = t.pending || ended == nil
	t.initFailed = t.initFailed || ended != nil && ended.ExitCode != 0 && !t.restarts(c, ended)
}

// sidecar counts a sidecar. Sidecars that have ended do not count.
func (t *tally) sidecar(status corev1.ContainerStatus, initialized bool) {
	switch {
	case status.State.Running != nil:
		t.running = true
		started := status.Started != nil && *status.Started
		t.pending = t.pending || !started && !initialized
	case exit(status) == nil:
		t.pending = true
	}
}

func (t *tally) container(c *corev1.Container, status corev1.ContainerStatus) {
	ended := exit(status)
	switch {
	case status.State.Running != nil:
		t.running = true
	case ended == nil:
		t.pending = true
	default:
		t.stopped++
		if t.restarts(c, ended) {
			t.restarting++
		}
		if ended.ExitCode == 0 && status.State.Terminated != nil {
			t.succeeded++
		}
	}
}

func (t *tally) restarts(c *corev1.Container, ended *corev1.ContainerStateTerminated) bool {
	return Decide(c, t.pod, ended.ExitCode, t.gates).Action != None || t.gates.AllContainers && ended.Reason == Restarting
}

func (t *tally) phase(ended bool) corev1.PodPhase {
	switch {
	case t.initFailed:
		return corev1.PodFailed
	case t.pending || !t.running && t.stopped == 0:
		return corev1.PodPending
	case t.running || !ended && t.restarting > 0:
		return corev1.PodRunning
	case t.stopped == t.succeeded:
		return corev1.PodSucceeded
	case !ended && !t.gates.Rules && t.pod.RestartPolicy == corev1.RestartPolicyOnFailure:
		// Without ContainerRestartRules, a container that waits after exit code 0 starts again.
		return corev1.PodRunning
	default:
		return corev1.PodFailed
	}
}
