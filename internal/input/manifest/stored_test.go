package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestStored checks that a stored Job has defaults and its namespace, and that the original Job is unchanged.
func TestStored(t *testing.T) {
	for given, want := range map[string]string{"": "ops", "own": "own"} {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: given}, Spec: batchv1.JobSpec{Parallelism: new(int32(3))}}
		before := job.DeepCopy()
		stored := Job{Object: job, Namespace: "ops"}.Stored()
		if stored.Namespace != want || *stored.Spec.BackoffLimit != 6 || *stored.Spec.Parallelism != 3 {
			t.Errorf("%q: stored as %v", given, stored)
		}
		if diff := cmp.Diff(before, job); diff != "" {
			t.Errorf("%q: the Job as written is changed (-want +got):\n%s", given, diff)
		}
	}
}
