package controller_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// TestBindingsCountJobs checks that the status of a binding counts the Jobs that it selects, and the Jobs in which the policy's verdicts
// are not carried out.
func TestBindingsCountJobs(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(customPolicy("gpu", rule("r", onCode3, ignore)), bind("gpu"), customPolicy("trial", rule("r", onCode3, ignore)), bind("trial", audits))
	}, func(w *world) {
		for i, manager := range []*string{nil, new(batchv1.JobControllerName), new(v1alpha1.JobController)} {
			job := one()
			job.Name, job.Spec.ManagedBy = fmt.Sprintf("job-%d", i), manager
			if _, err := w.server.CreateJob(job); err != nil {
				t.Fatal(err)
			}
		}
		w.pass(2 * time.Minute)
		for name, want := range map[string]v1alpha1.BoundJobs{
			"gpu":   {Selected: 3, NotCarriedOut: 2, Because: "they are not run by podverdict.io/job-controller"},
			"trial": {Selected: 3, NotCarriedOut: 3, Because: "the binding has mode Audit"},
		} {
			if diff := cmp.Diff(&want, w.server.Binding(name).Status.Jobs); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		writes := w.writes.Load()
		w.pass(time.Hour)
		if got := w.writes.Load(); got != writes {
			t.Errorf("what is right was written %d times more", got-writes)
		}
	})
}

// TestStatusIsWrittenOnce checks that a correct status is not written again, neither later nor after a restart. A status changed by another
// client is.
func TestStatusIsWrittenOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(customPolicy("gpu", rule("r", onCode3, ignore)), bind("gpu"), customPolicy("wrong", rule("r", broken, count)))
	}, func(w *world) {
		if got := w.writes.Load(); got != 3 {
			t.Errorf("there were %d writes, want 3", got)
		}
		before := w.server.Policy("gpu")
		w.pass(time.Hour)
		w.restart()
		w.pass(time.Hour)
		if got := w.writes.Load(); got != 3 {
			t.Errorf("there were %d writes more", got-3)
		}
		if diff := cmp.Diff(before.Status, w.server.Policy("gpu").Status); diff != "" {
			t.Errorf("the status differs:\n%s", diff)
		}
		w.server.ChangePolicy("gpu", func(p *v1alpha1.PodFailurePolicy) { p.Status = v1alpha1.PodFailurePolicyStatus{Rules: 7} })
		w.pass(time.Minute)
		w.expectReady(w.server.Policy("gpu"), "True Compiled: every expression compiles")
		if notes := w.notes("PodFailurePolicy"); len(notes) != 1 || !strings.Contains(notes[0], "not in force") {
			t.Errorf("the events are %q", notes)
		}
	})
}
