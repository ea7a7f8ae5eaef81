package controller_test

import (
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
)

// TestEndedPodsAreFreed checks that an ended pod loses its finalizer while its Job is active, as soon as its result is stored.
// A pod that waits for its successor keeps it until then.
func TestEndedPodsAreFreed(t *testing.T) {
	inWorld(t, nothing, func(w *world) {
		job := one()
		job.Spec.Completions, job.Spec.Parallelism, job.Spec.BackoffLimit = new(int32(3)), new(int32(3)), new(int32(9))
		w.run(job)
		for i, code := range []int32{0, 1} {
			w.end(w.server.Pods()[i], code)
		}
		w.pass(5 * time.Second)
		var held, ended int
		for _, pod := range w.server.Pods() {
			if active(pod) {
				continue
			}
			ended++
			if slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
				held++
			}
		}
		if ended != 2 || held != 0 {
			t.Errorf("%d pods have ended, %d of them are held", ended, held)
		}
		if s := w.server.Job(namespace, jobName).Status; s.Succeeded != 1 || s.Failed != 1 {
			t.Errorf("the status is %+v", s)
		}
	})
}
