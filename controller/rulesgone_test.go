package controller_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

// TestDecisionsOutlivePolicies checks that a decision remains if its policy is deleted before the controller restarts: the Job's own rules
// do not judge the pod again.
func TestDecisionsOutlivePolicies(t *testing.T) {
	for name, job := range map[string]*batchv1.Job{
		"by slot": managed(1, completions(1), policy), "by index": managed(1, indexed(1), perIndex(9), policy),
	} {
		t.Run(name, func(t *testing.T) {
			spare := rule("spare", "pod.failedContainers().exists(c, c.exitCode == 42)", ignore)
			inWorld(t, func(w *world) { w.apply(customPolicy("gpu", spare), bind("gpu")) }, func(w *world) {
				w.run(job)
				w.fail(codeFailJob)
				w.stop()
				w.server.Delete(memoryapi.Bindings, "gpu")
				w.start()
				w.expectJob("failed 0")
				pod := w.fail(codeFailJob)
				w.expectJob("failed 1, PodFailurePolicy: Container main for pod ns/" + pod.Name + " failed with exit code 42 matching FailJob rule at index 3")
			})
		})
	}
}

// TestBudgetsOfJobAndIndexes checks that a budget of the Job is not forgotten while a pod of an index, which has its own budget, waits for
// its replacement.
func TestBudgetsOfJobAndIndexes(t *testing.T) {
	ofJob, ofIndex := rule("job", onCode3, ignore), rule("index", "pod.failedContainers().exists(c, c.exitCode == 1)", count)
	ofJob.Budget = &v1alpha1.Budget{Limit: 2, Per: v1alpha1.PerJob, Then: failJob}
	ofIndex.Budget = &v1alpha1.Budget{Limit: 5, Per: v1alpha1.PerIndex, Then: batchv1.PodFailurePolicyActionFailIndex}
	inWorld(t, func(w *world) { w.apply(customPolicy("gpu", ofJob, ofIndex), bind("gpu")) }, func(w *world) {
		w.run(managed(1, indexed(1), perIndex(9)))
		for _, code := range []int32{3, 1, 3, 1} {
			w.fail(code)
		}
		w.expectJob("failed 2")
		pod := w.fail(3)
		w.expectJob("failed 3, PodFailurePolicy: Pod ns/" + pod.Name + " matching FailJob rule job of PodFailurePolicy gpu after its budget of 2 per Job")
	})
}
