package podstatus

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Sandbox is the state of a Pod's sandbox: empty if it is ready, else the kubelet's message (pkg/kubelet/types/constants.go).
type Sandbox string

// The states of a sandbox.
const (
	SandboxReady   Sandbox = ""
	SandboxMissing Sandbox = "no pod sandbox exists"
	SandboxStopped Sandbox = "pod sandbox is not ready"
)

// Report derives the kubelet's conditions from the Pod's phase and its containers' states, in the kubelet's order
// (pkg/kubelet/status/generate.go). Conditions of other components come first.
func Report(pod *corev1.Pod, sandbox Sandbox, at metav1.Time) {
	all := Containers(pod)
	ready := readyCondition(pod, all)
	containersReady := ready
	containersReady.Type = corev1.ContainersReady
	owned := []corev1.PodCondition{
		sandboxCondition(sandbox), initializedCondition(pod, all), ready, containersReady,
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
	}
	conditions := slices.DeleteFunc(slices.Clone(pod.Status.Conditions), isOwned)
	for _, c := range owned {
		c.LastTransitionTime = transition(pod.Status.Conditions, c, at)
		conditions = append(conditions, c)
	}
	pod.Status.Conditions = conditions
}

// SetCondition sets a condition. If the status does not change, it keeps the transition time.
func SetCondition(pod *corev1.Pod, c corev1.PodCondition, at metav1.Time) {
	c.LastTransitionTime = transition(pod.Status.Conditions, c, at)
	if old := find(pod.Status.Conditions, c.Type); old != nil {
		*old = c
		return
	}
	pod.Status.Conditions = append(pod.Status.Conditions, c)
}

// transition returns the time since which a condition has had its status.
func transition(conditions []corev1.PodCondition, c corev1.PodCondition, at metav1.Time) metav1.Time {
	if old := find(conditions, c.Type); old != nil && old.Status == c.Status {
		return old.LastTransitionTime
	}
	return at
}

func find(conditions []corev1.PodCondition, t corev1.PodConditionType) *corev1.PodCondition {
	for i := range conditions {
		if conditions[i].Type == t {
			return &conditions[i]
		}
	}
	return nil
}

// isOwned reports whether the kubelet owns a condition (pkg/kubelet/types/pod_status.go).
func isOwned(c corev1.PodCondition) bool {
	switch c.Type {
	case corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled,
		corev1.AllContainersRestarting:
		return true
	default:
		return false
	}
}

func sandboxCondition(sandbox Sandbox) corev1.PodCondition {
	if sandbox == SandboxReady {
		return corev1.PodCondition{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue}
	}
	return corev1.PodCondition{
		Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse, Reason: "PodSandboxNotReady", Message: string(sandbox),
	}
}

// endReasons maps phases of Pods that have ended to the reasons of their conditions.
var endReasons = map[corev1.PodPhase]string{corev1.PodFailed: "PodFailed", corev1.PodSucceeded: "PodCompleted"}

// initializedCondition is False until the init containers have succeeded. Once True, it remains True.
func initializedCondition(pod *corev1.Pod, all []Container) corev1.PodCondition {
	holds := corev1.PodCondition{Type: corev1.PodInitialized, Status: corev1.ConditionTrue}
	if pod.Status.Phase == corev1.PodSucceeded {
		holds.Reason = endReasons[corev1.PodSucceeded]
		return holds
	}
	var incomplete []string
	for _, c := range all {
		switch {
		case c.Init && !c.Status.Ready, c.Sidecar && !*c.Status.Started:
			incomplete = append(incomplete, c.Name)
		case !c.Init && !c.Sidecar && !c.waits():
			return holds
		}
	}
	if old := find(pod.Status.Conditions, corev1.PodInitialized); len(incomplete) == 0 || old != nil && old.Status == corev1.ConditionTrue {
		return holds
	}
	return corev1.PodCondition{
		Type: corev1.PodInitialized, Status: corev1.ConditionFalse, Reason: "ContainersNotInitialized",
		Message: fmt.Sprintf("containers with incomplete status: %s", incomplete),
	}
}

// readyCondition is False while a container or sidecar is not ready, and after the Pod has ended.
func readyCondition(pod *corev1.Pod, all []Container) corev1.PodCondition {
	condition := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: endReasons[pod.Status.Phase]}
	if condition.Reason != "" {
		return condition
	}
	var unready []string
	for _, c := range all {
		if !c.Init && !c.Status.Ready {
			unready = append(unready, c.Name)
		}
	}
	if len(unready) == 0 {
		condition.Status = corev1.ConditionTrue
		return condition
	}
	condition.Reason, condition.Message = "ContainersNotReady", fmt.Sprintf("containers with unready status: %s", unready)
	return condition
}
