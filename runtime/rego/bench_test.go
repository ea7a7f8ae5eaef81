package rego

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// training returns a Job as people write them: indexed, with a policy of four rules and one fault.
func training() *batchv1.Job {
	completions, parallelism, perIndex := int32(100), int32(10), int32(2)
	exitCodes := func(action batchv1.PodFailurePolicyAction, codes ...int32) batchv1.PodFailurePolicyRule {
		return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: codes,
		}}
	}
	mode := batchv1.IndexedCompletion
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: "train", Namespace: "team-a"},
		Spec: batchv1.JobSpec{
			Completions: &completions, Parallelism: &parallelism, CompletionMode: &mode, BackoffLimitPerIndex: &perIndex,
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
				{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
					{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
				}},
				exitCodes(batchv1.PodFailurePolicyActionFailJob, 1, 2, 42),
				exitCodes(batchv1.PodFailurePolicyActionFailIndex, 43, 44),
				exitCodes("Explode", 137),
			}},
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "example.com/train:1"}},
			}},
		},
	}
}

// BenchmarkValidateJob measures the built-in rules. Run it with GOMAXPROCS=1 for Jobs a second and core.
func BenchmarkValidateJob(b *testing.B) {
	v, err := New(b.Context(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	for name, old := range map[string]*batchv1.Job{"created": nil, "updated": training()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				found, err := v.ValidateJob(b.Context(), training(), old)
				if err != nil || len(found) != 1 {
					b.Fatal(found, err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}

// BenchmarkNew measures how long a program is busy before its first answer.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := New(b.Context(), Options{Guardrails: true}); err != nil {
			b.Fatal(err)
		}
	}
}
