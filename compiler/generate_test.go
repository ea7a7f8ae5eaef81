package compiler

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
)

// These generators are used by the tests of this package and of package compiler_test.

// exitCodes has few values, so that rules match pods, and both ends of int32.
var exitCodes = rapid.SampledFrom([]int32{0, 1, 2, 3, 42, 137, 143, 255, 256, -1, -1073741819, 1<<31 - 1, -1 << 31})

// drawnNames generates a few names that pods and rules share, and hostile ones: quotes, escapes,
// control characters, any letter.
func drawnNames() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"main", "setup", "side-car", ""}),
		rapid.StringOf(rapid.SampledFrom([]rune("ab\"'`\\\n\r\t\x00\x7f\u00e9\u2028\ufffd\U0001f9ea%{}"))),
		rapid.String(),
	)
}

func conditionTypes() *rapid.Generator[corev1.PodConditionType] {
	return rapid.Custom(func(t *rapid.T) corev1.PodConditionType {
		known := rapid.SampledFrom([]string{"DisruptionTarget", "Ready", "example.com/Gpu"})
		return corev1.PodConditionType(rapid.OneOf(known, known, known, drawnNames()).Draw(t, "type"))
	})
}

// conditionStatuses are mostly the three existing ones; the others produce expressions with any
// number of terms.
var conditionStatuses = rapid.OneOf(
	rapid.SampledFrom([]corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown}),
	rapid.SampledFrom([]corev1.ConditionStatus{"", "true", "Half \"way\"", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n"}),
)

func drawExitCodes(t *rapid.T) ExitCodes {
	m := ExitCodes{
		Operator: rapid.SampledFrom(Operators).Draw(t, "operator"),
		Values:   rapid.SliceOfN(exitCodes, 0, 40).Draw(t, "values"),
	}
	if rapid.Bool().Draw(t, "named") {
		name := drawnNames().Draw(t, "container")
		m.Container = &name
	}
	return m
}

func drawPodConditions(t *rapid.T) PodConditions {
	return PodConditions{Patterns: rapid.SliceOfN(rapid.Custom(drawPattern), 1, 40).Draw(t, "patterns")}
}

func drawPattern(t *rapid.T) batchv1.PodFailurePolicyOnPodConditionsPattern {
	return batchv1.PodFailurePolicyOnPodConditionsPattern{
		Type:   conditionTypes().Draw(t, "type"),
		Status: conditionStatuses.Draw(t, "status"),
	}
}

// Matches generates everything that StoredPolicy can return, whether or not the API server accepts
// it.
var Matches = rapid.Custom(func(t *rapid.T) Match {
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		return Never{}
	case 1, 2, 3, 4:
		return drawPodConditions(t)
	default:
		return drawExitCodes(t)
	}
})

// Pods generates pods with any mixture of absent and present parts.
var Pods = rapid.Custom(func(t *rapid.T) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = "default", "p"
	if rapid.IntRange(0, 7).Draw(t, "empty") == 0 {
		return pod
	}
	containers := rapid.SliceOfN(rapid.Custom(drawContainer), 0, 4)
	pod.Status.Phase = corev1.PodFailed
	pod.Status.ContainerStatuses = containers.Draw(t, "containers")
	pod.Status.InitContainerStatuses = containers.Draw(t, "init containers")
	pod.Status.EphemeralContainerStatuses = containers.Draw(t, "ephemeral containers")
	pod.Status.Conditions = rapid.SliceOfN(rapid.Custom(drawCondition), 0, 4).Draw(t, "conditions")
	return pod
})

func drawContainer(t *rapid.T) corev1.ContainerStatus {
	c := corev1.ContainerStatus{Name: drawnNames().Draw(t, "name")}
	terminated := &corev1.ContainerStateTerminated{ExitCode: exitCodes.Draw(t, "exit code")}
	switch rapid.IntRange(0, 5).Draw(t, "state") {
	case 0: // no state at all
	case 1:
		c.State.Running = &corev1.ContainerStateRunning{}
		c.LastTerminationState.Terminated = terminated
	default:
		c.State.Terminated = terminated
	}
	return c
}

func drawCondition(t *rapid.T) corev1.PodCondition {
	return corev1.PodCondition{
		Type:   conditionTypes().Draw(t, "type"),
		Status: conditionStatuses.Draw(t, "status"),
	}
}

// patternsOf parses patterns written as Type=Status.
func patternsOf(texts ...string) []batchv1.PodFailurePolicyOnPodConditionsPattern {
	var patterns []batchv1.PodFailurePolicyOnPodConditionsPattern
	for _, text := range texts {
		typ, status, _ := strings.Cut(text, "=")
		patterns = append(patterns, batchv1.PodFailurePolicyOnPodConditionsPattern{
			Type: corev1.PodConditionType(typ), Status: corev1.ConditionStatus(status),
		})
	}
	return patterns
}
