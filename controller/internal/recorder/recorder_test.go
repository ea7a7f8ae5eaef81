package recorder

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"

	"github.com/podverdict/podverdict/internal/testing/fixtures"
)

// TestEventsAreBoundedAndShared checks that callers do not wait for events to be written. Excess events of one tenant are
// dropped and counted. Events of other tenants are neither dropped nor delayed.
func TestEventsAreBoundedAndShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counts := fixtures.NewCounted(t)
		q := New(fake.NewClientset(), counts.Metrics, clock.RealClock{})
		defer q.broadcaster.Shutdown()
		told := map[string]*atomic.Int64{"a": {}, "b": {}}
		add := func(namespace string, events int) {
			for range events {
				q.add(recorded{namespace, func() { told[namespace].Add(1) }})
			}
		}
		const few = 20
		add("a", 4*MaxWaiting)
		add("b", few)
		dropped := counts.Series(t)["events_dropped_total{}"]
		if kept := 4*MaxWaiting - dropped; kept < 1 || kept > MaxWaiting/2 {
			t.Errorf("%v events of one namespace are kept", kept)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			q.run(ctx)
			close(done)
		}()
		time.Sleep(time.Second)
		synctest.Wait()
		if a, b := told["a"].Load(), told["b"].Load(); b != few || a > Burst+QPS {
			t.Errorf("after a second, %d and %d are told", a, b)
		}
		time.Sleep(MaxWaiting / QPS * time.Second)
		synctest.Wait()
		if got, want := told["a"].Load(), 4*MaxWaiting-int64(dropped); got != want {
			t.Errorf("%d are told, want %d", got, want)
		}
		stop()
		<-done
		add("a", 4*MaxWaiting)
		if all := counts.Series(t)["events_dropped_total{}"]; all != 2*dropped {
			t.Errorf("%v events are dropped first, and %v later: not all room is given back", dropped, all-dropped)
		}
	})
}
