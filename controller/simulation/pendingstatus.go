package simulation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reasons of containers that wait for something before them: the pod's volumes, its network, its init containers
// (pkg/kubelet/kubelet_pods.go).
const (
	reasonCreating     = "ContainerCreating"
	reasonInitializing = "PodInitializing" // replaces ContainerCreating if there are init containers
)

const (
	// reasonCrashed is the reason of a container that waits for a restart.
	reasonCrashed = "CrashLoopBackOff"
	// reasonUnknown is the reason of a container that no longer exists (pkg/kubelet/container/runtime.go).
	reasonUnknown = "ContainerStatusUnknown"
)

// unschedulableStatus returns the status of a pod that no node has room for (pkg/scheduler/schedule_one.go).
func unschedulableStatus(nodes int, because []string, now metav1.Time) corev1.PodStatus {
	status := pendingStatus()
	status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, LastTransitionTime: now, Reason: corev1.PodReasonUnschedulable,
		Message: fmt.Sprintf("0/%d nodes are available: %s.", nodes, strings.Join(because, ", ")),
	}}
	return status
}

// waitingStatus returns the status of a pod on a node whose first container waits. The kubelet starts the others all the same
// (pkg/kubelet/kuberuntime/kuberuntime_manager.go), unless the reason is that the pod itself is not ready for them.
func waitingStatus(p *corev1.Pod, reason string, now metav1.Time) corev1.PodStatus {
	status := runningStatus(p, outcome{}, now)
	status.Phase = corev1.PodPending
	begun := reason != reasonCreating && reason != reasonInitializing
	for i, c := range p.Spec.InitContainers {
		if !begun {
			status.InitContainerStatuses[i] = initStatus(c, waitingState(c, reason))
		}
	}
	for i, c := range p.Spec.Containers {
		if i == 0 || !begun {
			status.ContainerStatuses[i] = containerStatus(c, waitingState(c, reason))
		}
	}
	status.Conditions = pendingConditions(p, status, begun, now)
	return status
}

func waitingState(c corev1.Container, reason string) corev1.ContainerState {
	waits := corev1.ContainerStateWaiting{Reason: reason}
	if reason == "ImagePullBackOff" { // pkg/kubelet/images/image_manager.go
		waits.Message = fmt.Sprintf("Back-off pulling image %q", c.Image)
	}
	return corev1.ContainerState{Waiting: &waits}
}

// startedStatus returns the status of a pod that starts after it may have waited on its node: containers that ran already
// keep running.
func startedStatus(p *corev1.Pod, does outcome, now metav1.Time) corev1.PodStatus {
	status := runningStatus(p, does, now)
	if before := p.Status.StartTime; before != nil {
		status.StartTime = before
	}
	keepStates(status.InitContainerStatuses, p.Status.InitContainerStatuses)
	keepStates(status.ContainerStatuses, p.Status.ContainerStatuses)
	return status
}

func keepStates(to, from []corev1.ContainerStatus) {
	for i := range from {
		if from[i].State.Waiting == nil {
			to[i].State = from[i].State
		}
	}
}

// pendingConditions returns the conditions of a pod in phase Pending that has a node (pkg/kubelet/status/generate.go).
// Sandbox says whether the pod's sandbox exists.
func pendingConditions(p *corev1.Pod, status corev1.PodStatus, sandbox bool, now metav1.Time) []corev1.PodCondition {
	incomplete, unready := behind(p, status)
	all := podConditions(corev1.ConditionFalse, "ContainersNotReady", now)
	for i := range all {
		switch c := &all[i]; c.Type {
		case corev1.PodReadyToStartContainers:
			c.Status = conditionStatus(sandbox)
		case corev1.PodInitialized:
			if len(incomplete) > 0 {
				c.Status, c.Reason = corev1.ConditionFalse, "ContainersNotInitialized"
				c.Message = fmt.Sprintf("containers with incomplete status: %v", incomplete)
			}
		case corev1.PodReady, corev1.ContainersReady:
			c.Message = fmt.Sprintf("containers with unready status: %v", unready)
		default:
		}
	}
	return all
}

// behind returns the names of the init containers that have not finished, and of the containers that are not ready.
func behind(p *corev1.Pod, status corev1.PodStatus) (incomplete, unready []string) {
	for i, c := range p.Spec.InitContainers {
		if status.InitContainerStatuses[i].Ready {
			continue
		}
		incomplete = append(incomplete, c.Name)
		if isSidecar(c) {
			unready = append(unready, c.Name)
		}
	}
	for i, c := range p.Spec.Containers {
		if !status.ContainerStatuses[i].Ready {
			unready = append(unready, c.Name)
		}
		if status.ContainerStatuses[i].State.Waiting == nil {
			incomplete = nil // a started container shows that the pod was initialized
		}
	}
	return incomplete, unready
}

func conditionStatus(holds bool) corev1.ConditionStatus {
	if holds {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
}

// lose ends the containers of an ended pod that never ran: all of them if the pod was initialized, else the init containers
// up to the last one started, and at least one. It reports whether there were any (pkg/kubelet/status/status_manager.go,
// TerminatePod).
func lose(p *corev1.Pod, status *corev1.PodStatus) bool {
	lost := 0
	if initialized(p) {
		lost += loseAll(status.ContainerStatuses)
	}
	begun := min(1, len(status.InitContainerStatuses))
	for i := range status.InitContainerStatuses {
		if c := &status.InitContainerStatuses[i]; c.State.Waiting == nil || c.LastTerminationState.Terminated != nil {
			begun = i + 1
		}
	}
	return lost+loseAll(status.InitContainerStatuses[:begun]) > 0
}

func loseAll(statuses []corev1.ContainerStatus) (lost int) {
	for i := range statuses {
		c := &statuses[i]
		if c.State.Terminated == nil && c.LastTerminationState.Terminated == nil {
			c.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode: codeKilled, Reason: reasonUnknown, Message: "The container could not be located when the pod was terminated",
			}}
			lost++
		}
	}
	return lost
}

// initialized reports whether the pod's containers could start: its init containers have succeeded, or a started container
// shows that they did.
func initialized(p *corev1.Pod) bool {
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Waiting == nil {
			return true
		}
	}
	all := p.Status.InitContainerStatuses
	return len(all) == 0 || all[len(all)-1].Ready
}
