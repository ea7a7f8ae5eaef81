package podstatus

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/kube/restart"
)

// Reasons of a container's state.
const (
	ReasonCompleted = "Completed"
	ReasonError     = "Error"
	ReasonOOMKilled = "OOMKilled"
	// ReasonUnknown is the reason of a container that no longer exists.
	ReasonUnknown = "ContainerStatusUnknown"
	// ReasonCreating is the reason of a container that waits for volumes or a network.
	ReasonCreating = "ContainerCreating"
	// ReasonInitializing replaces ReasonCreating in a Pod with init containers.
	ReasonInitializing = "PodInitializing"
	// ReasonBackOff is the reason of a container that waits for its restart.
	ReasonBackOff = "CrashLoopBackOff"
)

// Exit codes of a container that was ended by a signal.
const (
	CodeKilled     int32 = 128 + 9
	CodeTerminated int32 = 128 + 15
)

// Container is a container of a Pod with its status.
type Container struct {
	*corev1.Container

	Status *corev1.ContainerStatus
	// Init is true for an init container that is not a sidecar.
	Init    bool
	Sidecar bool
}

// Containers returns the containers of a Pod, init containers first. It adds missing statuses to the Pod.
func Containers(pod *corev1.Pod) []Container {
	pod.Status.InitContainerStatuses = statusesOf(pod.Spec.InitContainers, pod.Status.InitContainerStatuses)
	pod.Status.ContainerStatuses = statusesOf(pod.Spec.Containers, pod.Status.ContainerStatuses)
	all := make([]Container, 0, len(pod.Spec.InitContainers)+len(pod.Spec.Containers))
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		sidecar := restart.IsSidecar(c, &pod.Spec)
		all = append(all, Container{c, &pod.Status.InitContainerStatuses[i], !sidecar, sidecar})
	}
	for i := range pod.Spec.Containers {
		all = append(all, Container{&pod.Spec.Containers[i], &pod.Status.ContainerStatuses[i], false, false})
	}
	return all
}

// statusesOf returns the statuses of containers in the containers' order. It returns the known statuses themselves if none is missing.
func statusesOf(containers []corev1.Container, known []corev1.ContainerStatus) []corev1.ContainerStatus {
	if slices.EqualFunc(containers, known, func(c corev1.Container, s corev1.ContainerStatus) bool { return c.Name == s.Name }) {
		return known
	}
	all := make([]corev1.ContainerStatus, len(containers))
	for i, c := range containers {
		all[i] = corev1.ContainerStatus{Name: c.Name, Image: c.Image, Started: new(false)}
		if at := slices.IndexFunc(known, func(s corev1.ContainerStatus) bool { return s.Name == c.Name }); at >= 0 {
			all[i] = known[at]
		}
	}
	return all
}

// Set sets the state of the container. A running container is started and, unless it is an init container, ready. An init container is
// ready after it has succeeded (pkg/kubelet/prober/prober_manager.go).
func (c Container) Set(state corev1.ContainerState) {
	runs := state.Running != nil
	c.Status.State, c.Status.Started, c.Status.Ready = state, &runs, runs
	if c.Init {
		c.Status.Ready = state.Terminated != nil && state.Terminated.ExitCode == 0
	}
}

// Wait makes the container wait.
func (c Container) Wait(reason, message string) {
	c.Set(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}})
}

// Run starts the container.
func (c Container) Run(at metav1.Time) {
	c.Set(corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}})
}

// Exit ends the container. If reason is empty, it is derived from the code, as in the container runtime.
func (c Container) Exit(code int32, reason string, at metav1.Time) {
	since := at
	if running := c.Status.State.Running; running != nil {
		since = running.StartedAt
	}
	c.Set(Exited(code, reason, since, at))
}

// Exited returns the state of a container that has ended. If reason is empty, it is derived from the code, as in the container runtime.
func Exited(code int32, reason string, since, at metav1.Time) corev1.ContainerState {
	switch {
	case reason != "":
	case code == 0:
		reason = ReasonCompleted
	default:
		reason = ReasonError
	}
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, StartedAt: since, FinishedAt: at}}
}

// Lose ends a container that the kubelet can no longer find.
func (c Container) Lose() {
	c.Set(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: CodeKilled, Reason: ReasonUnknown, Message: "The container could not be located when the pod was terminated",
	}})
}

// BackOff makes a container that has exited wait for its restart (pkg/kubelet/kuberuntime/kuberuntime_manager.go).
func (c Container) BackOff(pod *corev1.Pod, delay time.Duration) {
	c.Status.LastTerminationState = c.Status.State
	c.Wait(ReasonBackOff, fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)", delay, c.Name, pod.Name, pod.Namespace, pod.UID))
}

// Remove removes the container because another one restarts all containers of the Pod (pkg/kubelet/kubelet_pods.go).
func (c Container) Remove() {
	const message = "The container is removed because RestartAllContainers in place"
	if c.Status.State.Waiting != nil {
		return
	}
	c.Wait(restart.Restarting, message)
	c.Status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: CodeKilled, Reason: restart.Restarting, Message: message}
	c.Status.RestartCount++
}

// waits reports whether the container has not started, or waits for its restart.
func (c Container) waits() bool {
	return c.Status.State.Running == nil && c.Status.State.Terminated == nil
}

// backsOff reports whether the container waits for its restart.
func (c Container) backsOff() bool {
	return c.Status.State.Waiting != nil && c.Status.State.Waiting.Reason == ReasonBackOff
}

// hasBegun reports whether a container of the Pod other than its init containers has run.
func hasBegun(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.State.Running != nil || s.State.Terminated != nil || s.LastTerminationState.Terminated != nil
	})
}
