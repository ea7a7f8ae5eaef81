package running

import (
	"context"
	"errors"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/internal/testing/fixtures"
	"github.com/podverdict/podverdict/runtime/binding"
)

// TestUnknownSelection checks that no decisions are made for a Job while the rules in effect for it are unknown.
func TestUnknownSelection(t *testing.T) {
	unknown := errors.New("the caches do not have it yet")
	for name, want := range map[string]error{"an error": unknown, "a match condition was cut short": context.Canceled} {
		t.Run(name, func(t *testing.T) {
			d := newTestJob(t, fixtures.ManagedJob(1))
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			d.Selection = func(context.Context, *batchv1.Job) (binding.Selection, error) {
				if errors.Is(want, unknown) {
					return binding.Selection{}, unknown
				}
				stop()
				return binding.Selection{}, nil
			}
			if _, err := d.sync(ctx, d.key); !errors.Is(err, want) {
				t.Errorf("the error is %v, want %v", err, want)
			}
			if calls := d.calls(); len(calls) > 0 {
				t.Errorf("calls are %v", calls)
			}
		})
	}
}

// TestLargeJobWaits checks that a large Job waits longer for more events.
func TestLargeJobWaits(t *testing.T) {
	for active, want := range map[int32]time.Duration{0: 20 * time.Millisecond, 1000: 20 * time.Millisecond, 10_000: 200 * time.Millisecond, 1e6: time.Second} {
		job := fixtures.ManagedJob(1)
		job.Status.Active = active
		d := newTestJob(t, job)
		if _, err := d.sync(t.Context(), d.key); err != nil {
			t.Fatal(err)
		}
		if wait := d.states.coalescence(d.key); wait != want {
			t.Errorf("with %d active pods, the Job waits %v, want %v", active, wait, want)
		}
	}
}

// TestGenerationDoesNotWait checks that a change of the spec is handled without waiting for more events, because it may be a suspension
// before pods are deleted.
func TestGenerationDoesNotWait(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*batchv1.Job)
		want   int
	}{
		"the spec":   {func(j *batchv1.Job) { j.Generation++ }, 1},
		"the status": {func(j *batchv1.Job) { j.Status.Active++ }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			before := fixtures.ManagedJob(1)
			l := New(newTestJob(t, before).Options)
			defer l.queue.ShutDown()
			after := before.DeepCopy()
			test.change(after)
			if l.JobChanged(before, after); l.queue.Len() != test.want {
				t.Errorf("%d Jobs are to be looked at, want %d", l.queue.Len(), test.want)
			}
		})
	}
}
