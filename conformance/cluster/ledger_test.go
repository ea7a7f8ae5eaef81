package cluster

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podverdict/podverdict/controller/plan"
)

// A write to a Job's status writes its annotations too, in the same call, and is refused when the Job has changed:
// package plan keeps what must not come apart in both.
func TestStatusWritesHaveAnnotations(t *testing.T) {
	s := newServer(t)
	job := careless("Job")
	jobs := s.resource(job)
	job["spec"].(map[string]any)["managedBy"] = "podverdict.io/job-controller"
	read, err := jobs.Create(t.Context(), s.local(job), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const ledger = `{"failed":1}`
	planned := read.DeepCopy()
	planned.SetAnnotations(map[string]string{plan.LedgerAnnotation: ledger})
	if err := unstructured.SetNestedField(planned.Object, int64(1), "status", "failed"); err != nil {
		t.Fatal(err)
	}
	written, err := jobs.UpdateStatus(t.Context(), planned, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	failed, _, _ := unstructured.NestedInt64(written.Object, "status", "failed")
	if got := written.GetAnnotations()[plan.LedgerAnnotation]; got != ledger || failed != 1 {
		t.Errorf("annotation %q and %d failed, want %q and 1", got, failed, ledger)
	}
	if _, err := jobs.UpdateStatus(t.Context(), planned, metav1.UpdateOptions{}); err == nil {
		t.Error("a write that was planned for an older Job goes through")
	}
}
