package scenarios

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/restart"
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
	l := &life{pod}
	initialized := slices.ContainsFunc(status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.State.Waiting == nil })
	switch phase := restart.Phase(pod, false, initialized, g); {
	case phase == corev1.PodRunning || phase == corev1.PodPending:
		l.goesOn(phase, g)
	case phase != status.Phase:
		l.ended(phase, map[corev1.PodPhase]string{corev1.PodFailed: "PodFailed", corev1.PodSucceeded: "PodCompleted"}[phase])
	}
}

// goesOn leaves the Pod with containers that start again.
func (l *life) goesOn(phase corev1.PodPhase, g restart.Gates) {
	l.pod.Status.Phase = phase
	l.condition(corev1.PodReadyToStartContainers, corev1.ConditionTrue, "", "")
	for i := range l.pod.Spec.InitContainers { // sidecars end with the Pod
		s := &l.pod.Status.InitContainerStatuses[i]
		if ended := s.State.Terminated; isSidecar(&l.pod.Spec.InitContainers[i]) && ended != nil && ended.ExitCode == 0 {
			s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(started)}}
			s.Ready, s.Started = true, new(true)
		}
	}
	l.unready(slices.DeleteFunc(slices.Clone(l.pod.Status.ContainerStatuses), func(s corev1.ContainerStatus) bool { return s.Ready }))
	if slices.ContainsFunc(restart.Of(l.pod, g), func(r restart.Restarted) bool { return r.Action == restart.RestartAllContainers }) {
		l.condition(corev1.AllContainersRestarting, corev1.ConditionTrue, "RestartAllContainersStarted", "container exited with restart policy rule")
	}
}
