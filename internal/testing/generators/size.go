package generators

import (
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime"
)

// Size is a valid policy of a known size, for benchmarks.
type Size struct {
	Name   string
	Policy *batchv1.PodFailurePolicy
	// Rule is the index of the rule that matches a SizedPod, the last one, or runtime.NoRule.
	Rule int
}

// Sizes returns new copies of the policies that every benchmark measures:
//
//   - small: 2 rules, FailJob for the exit codes 1, 2 and 3 of container main, and
//     Ignore for DisruptionTarget, which matches;
//   - medium: 8 rules of a few exit codes or conditions, the last of which is the last rule of small;
//   - worst: 20 rules, the maximum, alternately with 255 exit codes and with 20
//     conditions, the most that a rule may have; only the last condition of the last
//     rule matches;
//   - longest: the valid policy with the longest CEL, 20 rules of all but 255 negative exit codes of ten digits, of a
//     container whose name has 63 characters. None matches.
func Sizes() []Size {
	return []Size{
		{"small", small(), 1}, {"medium", medium(), 7}, {"worst", worst(), compiler.MaxRules - 1}, {"longest", longest(), runtime.NoRule},
	}
}

func small() *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{exitCodeRule("main", 1, 2, 3), onDisruption()}}
}

func medium() *batchv1.PodFailurePolicy {
	p := &batchv1.PodFailurePolicy{}
	for i := range int32(3) {
		p.Rules = append(p.Rules, exitCodeRule("main", 100+i, 110+i, 120+i, 130+i), absentRule(int(i), 2))
	}
	anyContainer := exitCodeRule("", 2, 3, 5, 7, 11, 13, 17, 19)
	anyContainer.Action = batchv1.PodFailurePolicyActionFailIndex
	p.Rules = append(p.Rules, anyContainer, onDisruption())
	return p
}

func worst() *batchv1.PodFailurePolicy {
	p := &batchv1.PodFailurePolicy{}
	for i := range compiler.MaxRules / 2 {
		codes := make([]int32, compiler.MaxValues)
		for v := range codes {
			codes[v] = int32(v) + 1
		}
		codes[len(codes)-1] = 256 + int32(i) // differs from the 255 of the pods
		p.Rules = append(p.Rules, exitCodeRule("", codes...), absentRule(i, compiler.MaxPatterns))
	}
	last := p.Rules[len(p.Rules)-1].OnPodConditions
	last[len(last)-1] = onDisruption().OnPodConditions[0]
	return p
}

func longest() *batchv1.PodFailurePolicy {
	p := &batchv1.PodFailurePolicy{}
	for i := range compiler.MaxRules {
		codes := make([]int32, compiler.MaxValues)
		for v := range codes {
			codes[v] = -2_147_483_648 + int32(i*compiler.MaxValues+v)
		}
		r := exitCodeRule(strings.Repeat("c", maxName), codes...)
		r.OnExitCodes.Operator = batchv1.PodFailurePolicyOnExitCodesOpNotIn
		p.Rules = append(p.Rules, r)
	}
	return p
}

// maxName is the maximum length of a container's name.
const maxName = 63

// exitCodeRule returns a rule that fails the Job on exit codes of the named container, or of any if the name is empty.
func exitCodeRule(container string, codes ...int32) batchv1.PodFailurePolicyRule {
	on := &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: codes}
	if container != "" {
		on.ContainerName = &container
	}
	return batchv1.PodFailurePolicyRule{Action: batchv1.PodFailurePolicyActionFailJob, OnExitCodes: on}
}

// absentRule returns a rule that ignores failures with one of n conditions that no pod has.
func absentRule(i, n int) batchv1.PodFailurePolicyRule {
	types := make([]corev1.PodConditionType, n)
	for t := range types {
		types[t] = corev1.PodConditionType(fmt.Sprintf("example.com/Absent%d-%d", i, t))
	}
	return conditionRule(types...)
}

func onDisruption() batchv1.PodFailurePolicyRule { return conditionRule(corev1.DisruptionTarget) }

func conditionRule(types ...corev1.PodConditionType) batchv1.PodFailurePolicyRule {
	r := batchv1.PodFailurePolicyRule{Action: batchv1.PodFailurePolicyActionIgnore}
	for _, t := range types {
		r.OnPodConditions = append(r.OnPodConditions, batchv1.PodFailurePolicyOnPodConditionsPattern{Type: t, Status: corev1.ConditionTrue})
	}
	return r
}

// SizedPod returns a failed pod for benchmarks. It has six true conditions, the last of them DisruptionTarget, and containers
// that have all exited with 255. The first is main; the last third are init containers.
func SizedPod(containers int) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = "default", "train-0-x7k2p"
	pod.Status.Phase = corev1.PodFailed
	all := make([]corev1.ContainerStatus, containers)
	for i := range all {
		all[i] = corev1.ContainerStatus{Name: "c" + strconv.Itoa(i), Image: "registry.example/worker:1", RestartCount: 1}
		if i == 0 {
			all[i].Name = "main"
		}
		all[i].State.Terminated = &corev1.ContainerStateTerminated{ExitCode: 255, Reason: "Error"}
	}
	apps := containers - containers/3
	pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses = all[:apps:apps], all[apps:]
	for _, t := range []corev1.PodConditionType{
		corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled,
		corev1.DisruptionTarget,
	} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: t, Status: corev1.ConditionTrue})
	}
	return pod
}
