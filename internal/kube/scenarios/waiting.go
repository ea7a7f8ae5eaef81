package scenarios

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

const (
	reasonInitializing   = "PodInitializing"
	messageUnschedulable = "0/3 nodes are available: 3 Insufficient cpu. " +
		"preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."
)

// waiting are the scenarios in which the Pod is in phase Pending.
var waiting = []Scenario{
	{
		"image-pull-backoff", corev1.PodPending, "The image of the first container cannot be pulled.",
		nothing, func(l *life) {
			image := l.pod.Spec.Containers[0].Image
			l.waits("ImagePullBackOff", fmt.Sprintf("Back-off pulling image %q: ErrImagePull: %s", image, notFound(image)))
		},
	},
	{
		"image-pull-error", corev1.PodPending, "The image of the first container has just failed to be pulled.",
		nothing, func(l *life) { l.waits("ErrImagePull", notFound(l.pod.Spec.Containers[0].Image)) },
	},
	{
		"image-never-pulled", corev1.PodPending, "The image of the first container is not on the node, and imagePullPolicy is Never.",
		nothing, func(l *life) {
			l.waits("ErrImageNeverPull", fmt.Sprintf("Container image %q is not present with pull policy of Never", l.pod.Spec.Containers[0].Image))
		},
	},
	{
		"invalid-image-name", corev1.PodPending, "The image of the first container has a name that no image can have.",
		nothing, func(l *life) {
			const image = "example.com/Main"
			l.pod.Spec.Containers[0].Image, l.first().Image = image, image
			l.waits("InvalidImageName", fmt.Sprintf("Failed to apply default image tag %q: "+
				"couldn't parse image name %q: invalid reference format: repository name (Main) must be lowercase", image, image))
		},
	},
	{
		"config-error", corev1.PodPending, "The first container needs a Secret that is not there.",
		nothing, func(l *life) { l.waits("CreateContainerConfigError", `secret "credentials" not found`) },
	},
	{
		"create-error", corev1.PodPending, "The container runtime cannot create the first container: neither it nor its image has a command.",
		nothing, func(l *life) {
			l.waits("CreateContainerError", `failed to generate container "main" spec: failed to generate spec: no command specified`)
		},
	},
	{
		"container-creating", corev1.PodPending, "The kubelet waits for a volume or a network: no container.",
		nothing, (*life).creates,
	},
	{
		"init-image-pull-backoff", corev1.PodPending, "The image of the first init container, or of one called init, cannot be pulled.",
		InitContainer, (*life).initWaits,
	},
	{
		"unschedulable", corev1.PodPending, "The scheduler finds no node for the Pod.",
		nothing, func(l *life) { l.unscheduled(messageUnschedulable) },
	},
	{
		"gated", corev1.PodPending, "The scheduler leaves the Pod alone, which has scheduling gates.",
		nothing, func(l *life) {
			l.unscheduled("")
			l.pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/gate"}}
			l.condition(corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonSchedulingGated,
				"Scheduling is blocked due to non-empty scheduling gates")
		},
	},
}

// notFound returns containerd's message for an image that its registry does not have.
func notFound(image string) string {
	return fmt.Sprintf("rpc error: code = NotFound desc = failed to pull and unpack image %q: failed to resolve reference %q: %s: not found", image, image, image)
}

// waits makes the first container wait, and the Pod with it.
func (l *life) waits(reason, message string) {
	l.runs()
	l.pod.Status.Phase = corev1.PodPending
	s := l.first()
	s.State, s.Ready, s.Started = waitingFor(reason, message), false, new(false)
	l.unready([]corev1.ContainerStatus{*s})
}

func waitingFor(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

// unready sets the conditions of a Pod with containers that are not ready.
func (l *life) unready(containers []corev1.ContainerStatus) {
	names := make([]string, len(containers))
	for i := range containers {
		names[i] = containers[i].Name
	}
	message := fmt.Sprintf("containers with unready status: %s", names)
	l.condition(corev1.PodReady, corev1.ConditionFalse, "ContainersNotReady", message)
	l.condition(corev1.ContainersReady, corev1.ConditionFalse, "ContainersNotReady", message)
}

// creates puts the Pod into the state before the kubelet creates its first container.
func (l *life) creates() {
	reason := "ContainerCreating"
	if len(l.pod.Spec.InitContainers) > 0 {
		reason = reasonInitializing
	}
	l.pod.Status.Phase = corev1.PodPending
	all := [][]corev1.ContainerStatus{l.pod.Status.InitContainerStatuses, l.pod.Status.ContainerStatuses}
	for _, statuses := range all {
		for i := range statuses {
			statuses[i].State = waitingFor(reason, "")
		}
	}
	l.condition(corev1.PodReadyToStartContainers, corev1.ConditionFalse, "", "")
	l.unready(l.pod.Status.ContainerStatuses)
	if n := len(l.pod.Spec.InitContainers); n > 0 {
		names := make([]string, n)
		for i := range names {
			names[i] = l.pod.Spec.InitContainers[i].Name
		}
		l.uninitialized(names...)
	}
}

// initWaits makes the first init container wait for its image.
func (l *life) initWaits() {
	first := l.firstInit()
	l.creates()
	l.condition(corev1.PodReadyToStartContainers, corev1.ConditionTrue, "", "")
	image := l.pod.Spec.InitContainers[first].Image
	l.pod.Status.InitContainerStatuses[first].State = waitingFor("ImagePullBackOff",
		fmt.Sprintf("Back-off pulling image %q: ErrImagePull: %s", image, notFound(image)))
}

// unscheduled returns the Pod to its state before the scheduler assigns a node.
func (l *life) unscheduled(message string) {
	l.pod.Spec.NodeName = ""
	l.pod.Status = corev1.PodStatus{Phase: corev1.PodPending}
	l.condition(corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonUnschedulable, message)
}
