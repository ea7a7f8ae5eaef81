package simulation

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/kube/restart"
)

// The statuses here are written as the kubelet of v1.37 does (pkg/kubelet/status/generate.go).

// pendingStatus returns the status of a pod that waits for a node.
func pendingStatus() corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodPending}
}

// runningStatus returns the status of a pod whose containers have started. If an init container fails, it returns the status
// while that one runs.
func runningStatus(p *corev1.Pod, does outcome, now metav1.Time) corev1.PodStatus {
	status := corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &now}
	stuck := does.failsToStart(&p.Spec)
	started := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
	done := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}}
	waits := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}
	for i, state := 0, done; i < len(p.Spec.InitContainers); i++ {
		c := p.Spec.InitContainers[i]
		switch {
		case c.Name == stuck:
			status.InitContainerStatuses, state = append(status.InitContainerStatuses, initStatus(c, started)), waits
		case isSidecar(c) && state.Waiting == nil:
			status.InitContainerStatuses = append(status.InitContainerStatuses, initStatus(c, started))
		default:
			status.InitContainerStatuses = append(status.InitContainerStatuses, initStatus(c, state))
		}
	}
	for _, c := range p.Spec.Containers {
		state := started
		if stuck != "" {
			state = waits
		}
		status.ContainerStatuses = append(status.ContainerStatuses, containerStatus(c, state))
	}
	status.Conditions = podConditions(corev1.ConditionTrue, "", now)
	if stuck != "" {
		status.Phase, status.Conditions = corev1.PodPending, pendingConditions(p, status, true, now)
	}
	return status
}

// containerStatus returns the status of a container without probes (pkg/kubelet/prober/prober_manager.go).
func containerStatus(c corev1.Container, state corev1.ContainerState) corev1.ContainerStatus {
	runs := state.Running != nil
	return corev1.ContainerStatus{Name: c.Name, Image: c.Image, State: state, Ready: runs, Started: &runs}
}

// initStatus returns the status of an init container, which is ready once it has succeeded, unless it is a sidecar.
func initStatus(c corev1.Container, state corev1.ContainerState) corev1.ContainerStatus {
	status := containerStatus(c, state)
	if !isSidecar(c) {
		status.Ready = state.Terminated != nil && state.Terminated.ExitCode == 0
	}
	return status
}

// podConditions returns the conditions of a pod that has a node.
func podConditions(ready corev1.ConditionStatus, reason string, now metav1.Time) []corev1.PodCondition {
	conditions := []corev1.PodCondition{
		{Type: corev1.PodReadyToStartContainers, Status: ready},
		{Type: corev1.PodInitialized, Status: corev1.ConditionTrue},
		{Type: corev1.PodReady, Status: ready, Reason: reason},
		{Type: corev1.ContainersReady, Status: ready, Reason: reason},
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
	}
	for i := range conditions {
		conditions[i].LastTransitionTime = now
	}
	return conditions
}

// finalStatus returns the status of a pod whose containers have ended. It keeps conditions that the kubelet does not own.
func finalStatus(p *corev1.Pod, does outcome, now metav1.Time) corev1.PodStatus {
	status := *p.Status.DeepCopy()
	if does.collected {
		status.Phase = corev1.PodFailed
		return status
	}
	for _, statuses := range [][]corev1.ContainerStatus{status.InitContainerStatuses, status.ContainerStatuses} {
		for i := range statuses {
			terminate(&statuses[i], does, now)
		}
	}
	lost := lose(p, &status)
	reason := "PodFailed"
	if status.Phase = endPhase(p, status); does.evicted() {
		status.Phase, status.Reason, status.Message = corev1.PodFailed, "Evicted", "The node was low on resource: memory."
	} else if status.Phase == corev1.PodSucceeded {
		reason = "PodCompleted"
	}
	kept := foreignConditions(status.Conditions)
	status.Conditions = append(podConditions(corev1.ConditionFalse, reason, now), kept...)
	if does.condition != "" {
		status.Conditions = append(status.Conditions, failureCondition(does, now))
	}
	if lost {
		status.Conditions = append(pendingConditions(p, status, false, now), kept...)
	}
	keepTransitions(status.Conditions, p.Status.Conditions)
	return status
}

// endPhase returns the phase of a pod with nothing left to run.
func endPhase(p *corev1.Pod, status corev1.PodStatus) corev1.PodPhase {
	ended := corev1.Pod{Spec: p.Spec, Status: status}
	if restart.Phase(&ended, true, true, restart.Gates{}) == corev1.PodSucceeded {
		return corev1.PodSucceeded
	}
	return corev1.PodFailed
}

// keepTransitions copies the transition times of conditions that have not changed (pkg/kubelet/status/status_manager.go).
func keepTransitions(conditions, before []corev1.PodCondition) {
	for i := range conditions {
		for _, old := range before {
			if c := &conditions[i]; old.Type == c.Type && old.Status == c.Status {
				c.LastTransitionTime = old.LastTransitionTime
			}
		}
	}
}

// foreignConditions returns the conditions that the kubelet does not own (pkg/kubelet/types/pod_status.go).
func foreignConditions(conditions []corev1.PodCondition) []corev1.PodCondition {
	var kept []corev1.PodCondition
	for _, c := range conditions {
		switch c.Type {
		case corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled:
		default:
			kept = append(kept, c)
		}
	}
	return kept
}

func failureCondition(does outcome, now metav1.Time) corev1.PodCondition {
	c := corev1.PodCondition{Type: does.condition, Status: corev1.ConditionTrue, LastTransitionTime: now}
	if does.evicted() {
		c.Reason, c.Message = corev1.PodReasonTerminationByKubelet, "The node was low on resource: memory."
	}
	return c
}

// terminate ends a container if it is running.
func terminate(c *corev1.ContainerStatus, does outcome, now metav1.Time) {
	if c.State.Running == nil {
		return
	}
	ended := &corev1.ContainerStateTerminated{
		ExitCode: does.codes[c.Name], Reason: "Error", StartedAt: c.State.Running.StartedAt, FinishedAt: now,
	}
	switch {
	case c.Name == does.oom:
		ended.Reason = "OOMKilled"
	case ended.ExitCode == 0:
		ended.Reason = "Completed"
	}
	c.State, c.Ready, c.Started = corev1.ContainerState{Terminated: ended}, false, new(false)
}
