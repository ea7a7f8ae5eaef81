package simulation

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The statuses here are written as the kubelet of v1.36 does (pkg/kubelet/status/generate.go).

// pendingStatus is that of a pod that waits for a node.
func pendingStatus() corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodPending}
}

// runningStatus is that of a pod whose containers have started; of one that fails to start, that of a pod whose init
// containers have.
func runningStatus(p *corev1.Pod, does outcome, now metav1.Time) corev1.PodStatus {
	status := corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &now}
	ready := corev1.ConditionTrue
	stuck := does.failsToStart(&p.Spec)
	if stuck != "" {
		status.Phase, ready = corev1.PodPending, corev1.ConditionFalse
	}
	started := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
	done := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}}
	waits := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}
	for i, state := 0, done; i < len(p.Spec.InitContainers); i++ {
		c := p.Spec.InitContainers[i]
		switch {
		case c.Name == stuck:
			status.InitContainerStatuses, state = append(status.InitContainerStatuses, containerStatus(c, started)), waits
		case isSidecar(c) && state.Waiting == nil:
			status.InitContainerStatuses = append(status.InitContainerStatuses, containerStatus(c, started))
		default:
			status.InitContainerStatuses = append(status.InitContainerStatuses, containerStatus(c, state))
		}
	}
	for _, c := range p.Spec.Containers {
		state := started
		if stuck != "" {
			state = waits
		}
		status.ContainerStatuses = append(status.ContainerStatuses, containerStatus(c, state))
	}
	status.Conditions = podConditions(ready, "", now)
	return status
}

func containerStatus(c corev1.Container, state corev1.ContainerState) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: c.Name, Image: c.Image, State: state, Ready: state.Running != nil}
}

// podConditions are those of a pod that has a node.
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

// finalStatus is that of a pod whose containers have ended. Conditions that it had for other reasons stay.
func finalStatus(p *corev1.Pod, does outcome, now metav1.Time) corev1.PodStatus {
	status := *p.Status.DeepCopy()
	status.Phase = corev1.PodSucceeded
	reason := "PodCompleted"
	if does.failed(&p.Spec) {
		status.Phase, reason = corev1.PodFailed, "PodFailed"
	}
	kept := disruptions(status.Conditions)
	status.Conditions = append(podConditions(corev1.ConditionFalse, reason, now), kept...)
	if does.evicted() {
		status.Reason, status.Message = "Evicted", "The node was low on resource: memory."
	}
	if does.condition != "" {
		status.Conditions = append(status.Conditions, failureCondition(does, now))
	}
	for _, statuses := range [][]corev1.ContainerStatus{status.InitContainerStatuses, status.ContainerStatuses} {
		for i := range statuses {
			terminate(&statuses[i], does, now)
		}
	}
	return status
}

// disruptions are the conditions that say why a pod is about to end.
func disruptions(conditions []corev1.PodCondition) []corev1.PodCondition {
	var kept []corev1.PodCondition
	for _, c := range conditions {
		if c.Type == corev1.DisruptionTarget {
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

// terminate ends a container, if it runs.
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
	c.State, c.Ready = corev1.ContainerState{Terminated: ended}, false
}

// crashedStatus is that of a pod whose failed containers wait to be started again.
func crashedStatus(p *corev1.Pod, does outcome, now metav1.Time) corev1.PodStatus {
	status := *p.Status.DeepCopy()
	status.Conditions = podConditions(corev1.ConditionFalse, "ContainersNotReady", now)
	for _, statuses := range [][]corev1.ContainerStatus{status.InitContainerStatuses, status.ContainerStatuses} {
		for i := range statuses {
			c := &statuses[i]
			if does.codes[c.Name] == 0 || c.State.Running == nil {
				continue
			}
			terminate(c, does, now)
			c.LastTerminationState = c.State
			c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
			c.RestartCount++
		}
	}
	return status
}

// restartedStatus is that of a pod whose containers run again.
func restartedStatus(p *corev1.Pod, does outcome, now metav1.Time) corev1.PodStatus {
	before := p.Status
	status := runningStatus(p, does, now)
	status.StartTime = before.StartTime
	keepRestarts(status.InitContainerStatuses, before.InitContainerStatuses)
	keepRestarts(status.ContainerStatuses, before.ContainerStatuses)
	return status
}

func keepRestarts(to, from []corev1.ContainerStatus) {
	for i := range to {
		to[i].RestartCount, to[i].LastTerminationState = from[i].RestartCount, from[i].LastTerminationState
	}
}
