package podverdict_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict"
	"github.com/podverdict/podverdict/api/v1alpha1"
)

func BenchmarkJudge(b *testing.B) {
	oom := &v1alpha1.PodFailurePolicy{}
	oom.Name = "oom"
	oom.Spec.Rules = []v1alpha1.Rule{{Name: "killed", Action: "FailJob", When: "pod.failedContainers().exists(c, c.oomKilled)"}}
	engine, err := podverdict.New(oom)
	if err != nil {
		b.Fatal(err)
	}
	limited := job.DeepCopy()
	limited.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:      batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: "In", Values: []int32{42, 43}},
	}, {
		Action:          batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: "DisruptionTarget", Status: "True"}},
	}}}
	b.ReportAllocs()
	for b.Loop() {
		if v, err := engine.Judge(b.Context(), limited, pod, podverdict.Enforced(true)); err != nil || !v.Matched {
			b.Fatal(v, err)
		}
	}
}
