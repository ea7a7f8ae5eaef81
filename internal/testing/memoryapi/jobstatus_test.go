package memoryapi

import (
	"context"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/podverdict/podverdict/runtime/rego"
)

// TestStatusRules holds the rules for a write of the status to the Rego bundle, which conformance/cluster holds to the real
// API server.
func TestStatusRules(t *testing.T) {
	bundle, err := rego.New(t.Context(), rego.Options{Status: true})
	if err != nil {
		t.Fatal(err)
	}
	accepted, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		old := drawJob(t)
		job := old.DeepCopy()
		changeStatus(t, &job.Status)
		findings, err := bundle.ValidateJob(context.Background(), job, old)
		if err != nil {
			t.Fatal(err)
		}
		got := statusErrors(old, job)
		if (len(findings) > 0) != (len(got) > 0) {
			t.Fatalf("refused for %v, the bundle finds %v\n%v\n%v", got, findings, old, job)
		}
		if len(got) > 0 {
			refused++
		} else {
			accepted++
		}
	})
	if (accepted == 0 || refused == 0) && !testing.Short() { // few are drawn then
		t.Errorf("%d accepted, %d refused", accepted, refused)
	}
}

func drawJob(t *rapid.T) *batchv1.Job {
	job := &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "train"}}
	job.Spec.Parallelism = new(rapid.Int32Range(1, 3).Draw(t, "parallelism"))
	if rapid.Bool().Draw(t, "completions") {
		job.Spec.Completions = new(rapid.Int32Range(0, 3).Draw(t, "number"))
	}
	if job.Spec.Completions != nil && rapid.Bool().Draw(t, "Indexed") {
		job.Spec.CompletionMode = new(batchv1.IndexedCompletion)
		if rapid.Bool().Draw(t, "per index") {
			job.Spec.BackoffLimitPerIndex = new(int32(1))
		}
		if rapid.Bool().Draw(t, "successPolicy") {
			job.Spec.SuccessPolicy = &batchv1.SuccessPolicy{}
		}
	}
	job.Spec.Suspend = new(rapid.Bool().Draw(t, "suspend"))
	complete(job)
	for range rapid.IntRange(0, 3).Draw(t, "changes before") {
		changeStatus(t, &job.Status)
	}
	return job
}

// changeStatus changes some of a status.
func changeStatus(t *rapid.T, s *batchv1.JobStatus) {
	count := rapid.Int32Range(-1, 3)
	at := rapid.Custom(func(t *rapid.T) *metav1.Time {
		return new(metav1.NewTime(time.Unix(rapid.Int64Range(1, 3).Draw(t, "second"), 0).UTC()))
	})
	indexes := rapid.SampledFrom([]string{"", "0", "0,1", "0-1", "0-2", "1", "1,0", "x", "2-2", "1-", "0-0", "3"})
	for range rapid.IntRange(0, 4).Draw(t, "changes") {
		switch rapid.IntRange(0, 9).Draw(t, "field") {
		case 0:
			s.Active = count.Draw(t, "active")
		case 1:
			s.Succeeded = count.Draw(t, "succeeded")
		case 2:
			s.Failed = count.Draw(t, "failed")
		case 3:
			s.Ready, s.Terminating = new(count.Draw(t, "ready")), new(count.Draw(t, "terminating"))
		case 4:
			s.StartTime = rapid.OneOf(at, rapid.Just[*metav1.Time](nil)).Draw(t, "start")
		case 5:
			s.CompletionTime = rapid.OneOf(at, rapid.Just[*metav1.Time](nil)).Draw(t, "completion")
		case 6:
			s.CompletedIndexes = indexes.Draw(t, "completed")
		case 7:
			s.FailedIndexes = new(indexes.Draw(t, "failed indexes"))
		case 8:
			uids := rapid.SliceOfN(rapid.SampledFrom([]types.UID{"a", "b", ""}), 0, 2)
			s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: uids.Draw(t, "uids"), Failed: uids.Draw(t, "uids")}
		default:
			changeCondition(t, s)
		}
	}
}

func changeCondition(t *rapid.T, s *batchv1.JobStatus) {
	kind := rapid.SampledFrom([]batchv1.JobConditionType{
		batchv1.JobComplete, batchv1.JobFailed, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet, batchv1.JobSuspended,
	}).Draw(t, "condition")
	status := rapid.SampledFrom([]corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionFalse}).Draw(t, "status")
	for i := range s.Conditions {
		if s.Conditions[i].Type == kind {
			s.Conditions[i].Status = status
			return
		}
	}
	s.Conditions = append(s.Conditions, batchv1.JobCondition{Type: kind, Status: status})
}
