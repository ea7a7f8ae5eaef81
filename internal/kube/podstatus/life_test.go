package podstatus_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
)

// after returns a time some seconds after at.
func after(seconds int) metav1.Time {
	return metav1.NewTime(at.Add(time.Duration(seconds) * time.Second))
}

// newPod returns a Pod with an init container, a sidecar and two containers.
func newPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pod", UID: "1"},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyOnFailure,
			InitContainers: []corev1.Container{
				{Name: "prepare"}, {Name: "proxy", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)},
			},
			Containers: []corev1.Container{{Name: "main"}, {Name: "side"}},
		},
	}
}

// states describes the phase, the containers and the condition Ready of a Pod.
func states(pod *corev1.Pod) string {
	parts := []string{string(pod.Status.Phase)}
	for _, c := range podstatus.Containers(pod) {
		text := c.Name
		switch state := c.Status.State; {
		case state.Running != nil:
			text += fmt.Sprintf(" runs since %.0f", state.Running.StartedAt.Sub(at.Time).Seconds())
		case state.Terminated != nil:
			text += fmt.Sprintf(" %d %s", state.Terminated.ExitCode, state.Terminated.Reason)
		case state.Waiting != nil:
			text += " " + state.Waiting.Reason
		}
		if n := c.Status.RestartCount; n > 0 {
			text += fmt.Sprintf(", restart %d", n)
		}
		parts = append(parts, text)
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			parts = append(parts, fmt.Sprintf("Ready=%s since %.0f", c.Status, c.LastTransitionTime.Sub(at.Time).Seconds()))
		}
	}
	return strings.Join(parts, "; ")
}

// TestLife follows a Pod through its stages.
func TestLife(t *testing.T) {
	pod := newPod()
	main := func() podstatus.Container { return podstatus.Containers(pod)[2] }
	for _, step := range []struct {
		name, want string
		write      func()
	}{
		{
			"created", "Pending; prepare PodInitializing; proxy PodInitializing; main PodInitializing; side PodInitializing; Ready=False since 0",
			func() { podstatus.Create(pod, at) },
		},
		{
			"an init container runs", "Pending; prepare runs since 1; proxy PodInitializing; main PodInitializing; side PodInitializing; Ready=False since 0",
			func() { podstatus.StartInit(pod, "prepare", after(1)) },
		},
		{
			"the first container waits", "Pending; prepare 0 Completed; proxy runs since 2; main ErrImagePull; side runs since 2; Ready=False since 0",
			func() {
				podstatus.Containers(pod)[0].Exit(0, "", after(2))
				podstatus.Wait(pod, podstatus.ReasonErrImagePull, "", after(2))
			},
		},
		{
			"all run", "Running; prepare 0 Completed; proxy runs since 2; main runs since 3; side runs since 2; Ready=True since 3",
			func() { podstatus.Start(pod, after(3)) },
		},
		{
			"one backs off", "Running; prepare 0 Completed; proxy runs since 2; main CrashLoopBackOff; side runs since 2; Ready=False since 4",
			func() {
				main().Exit(7, "", after(4))
				main().BackOff(pod, 10*time.Second)
				podstatus.ReportRunning(pod, newest, after(4))
			},
		},
		{
			"it is restarted", "Running; prepare 0 Completed; proxy runs since 2; main runs since 5, restart 1; side runs since 2; Ready=True since 5",
			func() { podstatus.Start(pod, after(5)) },
		},
		{
			"the Pod is deleted in the next back-off", "Failed; prepare 0 Completed; proxy 143 Error; main 8 Error, restart 1; side 143 Error; Ready=False since 6",
			func() {
				main().Exit(8, "", after(6))
				main().BackOff(pod, 20*time.Second)
				podstatus.ReportRunning(pod, newest, after(6))
				podstatus.Stop(pod, podstatus.CodeTerminated, after(7))
				podstatus.End(pod, after(7))
			},
		},
	} {
		step.write()
		if got := states(pod); got != step.want {
			t.Errorf("%s:\ngot  %s\nwant %s", step.name, got, step.want)
		}
	}
	if got, want := main().Status.LastTerminationState.Terminated, int32(8); got == nil || got.ExitCode != want {
		t.Errorf("last termination %v, want code %d", got, want)
	}
}

// TestConditionsOfOthers checks that the kubelet keeps the conditions of other components, before its own.
func TestConditionsOfOthers(t *testing.T) {
	pod := newPod()
	podstatus.Start(pod, at)
	podstatus.EvictedByAPI.Write(pod, after(1))
	podstatus.EvictedByAPI.Write(pod, after(2))
	podstatus.Stop(pod, podstatus.CodeTerminated, after(3))
	podstatus.End(pod, after(3))
	var types []corev1.PodConditionType
	for _, c := range pod.Status.Conditions {
		types = append(types, c.Type)
	}
	want := []corev1.PodConditionType{
		corev1.DisruptionTarget, corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled,
	}
	if !slices.Equal(types, want) {
		t.Errorf("conditions are %v, want %v", types, want)
	}
	if since := pod.Status.Conditions[0].LastTransitionTime; since != after(1) {
		t.Errorf("DisruptionTarget since %v, want %v", since, after(1))
	}
}
