package scenarios

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
)

// waiting holds the scenarios in which the Pod is in phase Pending.
var waiting = []Scenario{
	{
		"image-pull-backoff", corev1.PodPending, "The image of the first container cannot be pulled.",
		nothing, func(l *life) { l.waitsForImage(podstatus.ReasonImagePullBackOff) },
	},
	{
		"image-pull-error", corev1.PodPending, "The image of the first container has just failed to be pulled.",
		nothing, func(l *life) { l.waitsForImage(podstatus.ReasonErrImagePull) },
	},
	{
		"image-never-pulled", corev1.PodPending, "The image of the first container is not on the node, and imagePullPolicy is Never.",
		nothing, func(l *life) { l.waitsForImage(podstatus.ReasonErrImageNeverPull) },
	},
	{
		"invalid-image-name", corev1.PodPending, "The image of the first container has a name that no image can have.",
		nothing, func(l *life) {
			const image = "example.com/Main"
			l.first().Container.Image, l.first().Status.Image = image, image
			l.waits(podstatus.ReasonInvalidImageName, fmt.Sprintf("Failed to apply default image tag %q: "+
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
		nothing, func(*life) {},
	},
	{
		"init-image-pull-backoff", corev1.PodPending, "The image of the first init container, or of one called init, cannot be pulled.",
		InitContainer, (*life).initWaits,
	},
	{
		"unschedulable", corev1.PodPending, "The scheduler finds no node for the Pod.",
		nothing, (*life).unscheduled,
	},
	{
		"gated", corev1.PodPending, "The scheduler leaves the Pod alone, which has scheduling gates.",
		nothing, func(l *life) {
			l.unscheduled()
			l.pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/gate"}}
			podstatus.Gate(l.pod, created)
		},
	},
}

// waits makes the first container, and thereby the Pod, wait.
func (l *life) waits(reason, message string) { podstatus.Wait(l.pod, reason, message, started) }

// waitsForImage makes the first container wait for its image.
func (l *life) waitsForImage(reason string) {
	l.waits(reason, podstatus.ImageMessage(reason, l.first().Image))
}

// initWaits makes the first init container wait for its image.
func (l *life) initWaits() {
	const reason = podstatus.ReasonImagePullBackOff
	c := l.find(l.initContainer())
	c.Wait(reason, podstatus.ImageMessage(reason, c.Image))
	podstatus.Report(l.pod, podstatus.SandboxReady, started)
}

// unscheduled returns the Pod to its state before the scheduler assigns a node.
func (l *life) unscheduled() {
	l.pod.Spec.NodeName, l.pod.Status = "", corev1.PodStatus{}
	podstatus.Unschedulable(l.pod, map[string]int{podstatus.InsufficientCPU: 3}, created)
}
