//go:build cluster

package cluster

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podverdict/podverdict/controller/plan"
)

// The ledger of package plan is written with the status, in one call that is refused when the Job has changed. Annotations of
// the greatest size leave it room, and a change of the Job itself neither removes nor alters it.
func TestLedgerIsPartOfTheStatus(t *testing.T) {
	s := newServer(t)
	job := careless("Job")
	jobs := s.resource(job)
	job["metadata"].(map[string]any)["annotations"] = map[string]any{"large": strings.Repeat("x", 256<<10-5)}
	job["spec"].(map[string]any)["managedBy"] = "podverdict.io/job-controller"
	read, err := jobs.Create(t.Context(), s.local(job), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const ledger = `{"failed":1}`
	planned := read.DeepCopy()
	conditions := []any{map[string]any{"type": string(plan.LedgerCondition), "status": "True", "reason": "FormatV1", "message": ledger}}
	if err := unstructured.SetNestedSlice(planned.Object, conditions, "status", "conditions"); err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedField(planned.Object, int64(1), "status", "failed"); err != nil {
		t.Fatal(err)
	}
	written, err := jobs.UpdateStatus(t.Context(), planned, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, failed := ledgerAndFailed(written); got != ledger || failed != 1 {
		t.Errorf("ledger %q and %d failed, want %q and 1", got, failed, ledger)
	}
	replacement := written.DeepCopy()
	replacement.SetAnnotations(nil)
	unstructured.RemoveNestedField(replacement.Object, "status")
	replaced, err := jobs.Update(t.Context(), replacement, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, failed := ledgerAndFailed(replaced); got != ledger || failed != 1 {
		t.Errorf("after the Job was replaced: ledger %q and %d failed", got, failed)
	}
	if _, err := jobs.UpdateStatus(t.Context(), planned, metav1.UpdateOptions{}); err == nil {
		t.Error("a write that was planned for an older Job goes through")
	}
}

func ledgerAndFailed(job *unstructured.Unstructured) (ledger string, failed int64) {
	failed, _, _ = unstructured.NestedInt64(job.Object, "status", "failed")
	conditions, _, _ := unstructured.NestedSlice(job.Object, "status", "conditions")
	for _, condition := range conditions {
		if c, ok := condition.(map[string]any); ok && c["type"] == string(plan.LedgerCondition) {
			ledger, _ = c["message"].(string)
		}
	}
	return ledger, failed
}
