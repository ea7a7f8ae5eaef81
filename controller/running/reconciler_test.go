package running

import (
	"context"
	"errors"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/controller/internal/fixtures"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Nothing is decided for a Job while nobody knows which rules are in force for it.
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
