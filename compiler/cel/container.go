package cel

import (
	corev1 "k8s.io/api/core/v1"
)

// Kind is a container's role in its pod.
type Kind string

// Kinds of containers.
const (
	KindContainer Kind = "container"
	KindInit      Kind = "init"
	KindSidecar   Kind = "sidecar"
)

// States of a container.
const (
	StateWaiting    = "waiting"
	StateRunning    = "running"
	StateTerminated = "terminated"
)

// reasonOOMKilled is the kubelet's reason for a container that used more memory than its limit.
const reasonOOMKilled = "OOMKilled"

// Container is a container of a pod, as described by its status.
type Container struct {
	Status *corev1.ContainerStatus
	Kind   Kind
}

// Count returns the number of the pod's containers that have a status.
func Count(pod *corev1.Pod) int {
	return len(pod.Status.ContainerStatuses) + len(pod.Status.InitContainerStatuses)
}

// Steps returns the cost of a loop over all containers of the pod. Each status counts once. Finding the kind of an init
// container may also require a search of the whole spec, if the container is not at its status's position.
func Steps(pod *corev1.Pod) int {
	steps := Count(pod)
	for i := range pod.Status.InitContainerStatuses {
		if i >= len(pod.Spec.InitContainers) || pod.Spec.InitContainers[i].Name != pod.Status.InitContainerStatuses[i].Name {
			steps += len(pod.Spec.InitContainers)
		}
	}
	return steps
}

// At returns the i-th container of the pod that has a status, from 0.
func At(pod *corev1.Pod, i int) Container {
	if i < len(pod.Status.ContainerStatuses) {
		return Container{&pod.Status.ContainerStatuses[i], KindContainer}
	}
	i -= len(pod.Status.ContainerStatuses)
	status := &pod.Status.InitContainerStatuses[i]
	return Container{status, initKind(pod.Spec.InitContainers, status.Name, i)}
}

// statusAt returns the status of the i-th container.
func statusAt(pod *corev1.Pod, i int) *corev1.ContainerStatus {
	if n := len(pod.Status.ContainerStatuses); i >= n {
		return &pod.Status.InitContainerStatuses[i-n]
	}
	return &pod.Status.ContainerStatuses[i]
}

// initKind returns the kind of an init container from the spec. It first tries the status's own position, because the
// kubelet writes statuses in spec order.
func initKind(spec []corev1.Container, name string, i int) Kind {
	if i < len(spec) && spec[i].Name == name {
		return kindOf(&spec[i])
	}
	for i := range spec {
		if spec[i].Name == name {
			return kindOf(&spec[i])
		}
	}
	return KindInit
}

func kindOf(c *corev1.Container) Kind {
	if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
		return KindSidecar
	}
	return KindInit
}

// FailedAt reports whether the i-th container with a status is not a sidecar and has terminated with an exit code other than
// 0.
func FailedAt(pod *corev1.Pod, i int) bool {
	n := len(pod.Status.ContainerStatuses)
	if i < n {
		return HasFailed(&pod.Status.ContainerStatuses[i])
	}
	status := &pod.Status.InitContainerStatuses[i-n]
	return HasFailed(status) && initKind(pod.Spec.InitContainers, status.Name, i-n) != KindSidecar
}

// HasFailed reports whether a container, which may be a sidecar, has terminated with an exit code other than 0.
func HasFailed(s *corev1.ContainerStatus) bool {
	return s.State.Terminated != nil && s.State.Terminated.ExitCode != 0
}

func (c Container) name() string { return c.Status.Name }

func (c Container) kind() string { return string(c.Kind) }

func (c Container) image() string { return c.Status.Image }

func (c Container) restarts() int64 { return int64(c.Status.RestartCount) }

func (c Container) lastExitCode() (int64, bool) {
	if last := c.Status.LastTerminationState.Terminated; last != nil {
		return int64(last.ExitCode), true
	}
	return 0, false
}

func (c Container) waitingReason() string {
	if w := c.Status.State.Waiting; w != nil {
		return w.Reason
	}
	return ""
}

func (c Container) exitCode() int64 {
	if t := c.Status.State.Terminated; t != nil {
		return int64(t.ExitCode)
	}
	return 0
}

// signal returns the signal that the container runtime reports, or the one that the exit code implies by the shell
// convention: 128 plus the signal.
func (c Container) signal() int64 {
	t := c.Status.State.Terminated
	switch {
	case t == nil:
		return 0
	case t.Signal != 0:
		return int64(t.Signal)
	case t.ExitCode > signalBase && t.ExitCode <= signalBase+maxSignal:
		return int64(t.ExitCode - signalBase)
	default:
		return 0
	}
}

func (c Container) signalName() string { return signalName(c.signal()) }

func (c Container) state() string {
	switch {
	case c.Status.State.Terminated != nil:
		return StateTerminated
	case c.Status.State.Running != nil:
		return StateRunning
	default:
		return StateWaiting // the API's default
	}
}

func (c Container) reason() string {
	switch s := c.Status.State; {
	case s.Terminated != nil:
		return s.Terminated.Reason
	case s.Waiting != nil:
		return s.Waiting.Reason
	default:
		return ""
	}
}

func (c Container) message() string {
	switch s := c.Status.State; {
	case s.Terminated != nil:
		return s.Terminated.Message
	case s.Waiting != nil:
		return s.Waiting.Message
	default:
		return ""
	}
}

func (c Container) oomKilled() bool {
	t := c.Status.State.Terminated
	return t != nil && t.Reason == reasonOOMKilled
}
