package controller_test

import (
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/rest"

	"github.com/podverdict/podverdict/controller"
)

// TestMistakesAreToldOnce checks that an invalid annotation is reported once, including a ledger that became invalid after the Job started.
func TestMistakesAreToldOnce(t *testing.T) {
	inWorld(t, nothing, func(w *world) {
		w.run(one())
		w.fail(3)
		w.server.ChangeJob(namespace, jobName, func(job *batchv1.Job) { setLedger(job, "{") })
		w.fail(3)
		w.fail(3)
		mistake := `Warning InvalidAnnotation: status.conditions[podverdict.io/Ledger].message: Invalid value: "{": unexpected end of JSON input`
		loss := "Warning LedgerLost: The status counts pods of which there is no record: the budgets of rules count as used up, and what is counted is not run again"
		// The clock does not advance here, and events at the same time have the same name, so either may be missing.
		if told := w.notes("Job"); len(told) == 0 || len(slices.Compact(slices.Clone(told))) != len(told) ||
			slices.ContainsFunc(told, func(note string) bool { return note != mistake && note != loss }) {
			t.Errorf("told %q", told)
		}
	})
}

func TestUnknownVersionOfKubernetes(t *testing.T) {
	if _, err := controller.New(controller.Options{Config: &rest.Config{}, Kubernetes: "1.12"}); err == nil || !strings.Contains(err.Error(), `"1.12"`) {
		t.Errorf("Kubernetes 1.12: %v", err)
	}
}
