package scenarios

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/kube/restart"
)

// Settle gives a Pod whose containers have just exited the phase and the conditions that the kubelet gives it. Where a container
// starts again, the Pod goes on (pkg/kubelet/kubelet_pods.go, getPhase). A Pod that something else ends is left as it is.
func Settle(pod *corev1.Pod, g restart.Gates) {
	exited := func(s corev1.ContainerStatus) bool { return s.State.Terminated != nil }
	failed := func(s corev1.ContainerStatus) bool { return exited(s) && s.State.Terminated.ExitCode != 0 }
	status := &pod.Status
	if restart.IsInterrupted(pod) || !slices.ContainsFunc(status.ContainerStatuses, exited) && !slices.ContainsFunc(status.InitContainerStatuses, failed) {
		return
	}
	l, again := &life{pod: pod}, restart.Again(pod, g)
	initialized := slices.ContainsFunc(status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.State.Waiting == nil })
	phase := restart.Phase(pod, false, initialized, g)
	if reason := endReasons[phase]; reason != "" && phase != status.Phase {
		l.ended(phase, reason)
	} else if reason == "" && len(again) > 0 {
		l.goesOn(phase, again)
	}
}

// endReasons are those of the conditions of a Pod that has ended.
var endReasons = map[corev1.PodPhase]string{corev1.PodFailed: "PodFailed", corev1.PodSucceeded: "PodCompleted"}

// goesOn leaves the Pod with containers that start again.
func (l *life) goesOn(phase corev1.PodPhase, again []restart.Restarted) {
	l.pod.Status.Phase = phase
	l.condition(corev1.PodReadyToStartContainers, corev1.ConditionTrue, "", "")
	for i := range l.pod.Status.InitContainerStatuses {
		s := &l.pod.Status.InitContainerStatuses[i]
		sidecar := slices.ContainsFunc(l.pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == s.Name && isSidecar(&c) })
		if ended := s.State.Terminated; sidecar && ended != nil && ended.ExitCode == 0 { // it ends with the Pod
			s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(started)}}
			s.Ready, s.Started = true, new(true)
		}
	}
	l.unready(slices.DeleteFunc(slices.Clone(l.pod.Status.ContainerStatuses), func(s corev1.ContainerStatus) bool { return s.Ready }))
	if slices.ContainsFunc(again, func(r restart.Restarted) bool { return r.Action == restart.RestartAllContainers }) {
		l.condition(corev1.AllContainersRestarting, corev1.ConditionTrue, "RestartAllContainersStarted", "container exited with restart policy rule")
	}
}
