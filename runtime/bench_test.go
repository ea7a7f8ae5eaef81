package runtime

import (
	"context"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
)

func BenchmarkEvaluate(b *testing.B) {
	env, err := compiler.NewEnvironment("1.36")
	if err != nil {
		b.Fatal(err)
	}
	name := "main"
	pol := &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		{Action: "FailJob", OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{ContainerName: &name, Operator: "In", Values: []int32{1, 2, 3}}},
		{Action: "Ignore", OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: "True"}}},
	}}
	pod := &corev1.Pod{}
	pod.Name, pod.Namespace = "p", "default"
	pod.Status.Phase = "Failed"
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 42}}}}
	for _, t := range []string{"PodScheduled", "Initialized", "Ready", "DisruptionTarget"} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodConditionType(t), Status: "True"})
	}
	for _, o := range []Options{{}, {DisableSpecialization: true}} {
		c, _ := env.Compile(compiler.StoredPolicy(pol))
		p, err := NewProgram(c, o)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				v := p.Evaluate(context.Background(), pod)
				if v.Rule != 1 {
					b.Fatal(v)
				}
			}
		})
	}
}
