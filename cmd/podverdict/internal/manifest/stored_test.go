package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestStored(t *testing.T) {
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}}}
	mode, no := batchv1.NonIndexedCompletion, false
	for name, c := range map[string]struct{ given, want batchv1.Job }{
		"nothing": {
			batchv1.Job{},
			batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ops"}, Spec: batchv1.JobSpec{
				Completions: new(int32(1)), Parallelism: new(int32(1)), BackoffLimit: new(int32(6)), CompletionMode: &mode, Suspend: &no,
				ManualSelector: &no, PodReplacementPolicy: new(batchv1.TerminatingOrFailed),
			}},
		},
		"everything": {
			batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "own"}, Spec: batchv1.JobSpec{
				Parallelism: new(int32(3)), BackoffLimitPerIndex: new(int32(1)), PodFailurePolicy: &batchv1.PodFailurePolicy{}, Template: template,
			}},
			batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "own", Labels: map[string]string{"app": "x"}}, Spec: batchv1.JobSpec{
				Parallelism: new(int32(3)), BackoffLimitPerIndex: new(int32(1)), PodFailurePolicy: &batchv1.PodFailurePolicy{}, Template: template,
				BackoffLimit: new(int32(1<<31 - 1)), CompletionMode: &mode, Suspend: &no, ManualSelector: &no,
				PodReplacementPolicy: new(batchv1.Failed),
			}},
		},
	} {
		before := c.given.DeepCopy()
		if diff := cmp.Diff(&c.want, Job{Object: &c.given, Namespace: "ops"}.Stored()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(before, &c.given); diff != "" {
			t.Errorf("%s: the Job as written is changed (-want +got):\n%s", name, diff)
		}
	}
}
