package controller

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
)

// Nobody waits until events are told. Those of a tenant that has too many are dropped and counted, those of others are not, and
// do not wait for them.
func TestEventsAreBoundedAndShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counts := newCounted(t)
		q := newEventQueue(Options{Metrics: counts.Metrics, Clock: clock.RealClock{}}, nil)
		told := map[string]*atomic.Int64{"a": {}, "b": {}}
		add := func(namespace string, events int) {
			for range events {
				q.add(recorded{namespace, func() { told[namespace].Add(1) }})
			}
		}
		const few = 20
		add("a", 4*maxEvents)
		add("b", few)
		dropped := counts.series(t)["events_dropped_total{}"]
		if kept := 4*maxEvents - dropped; kept < 1 || kept > maxEvents/2 {
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
		if a, b := told["a"].Load(), told["b"].Load(); b != few || a > eventBurst+eventQPS {
			t.Errorf("after a second, %d and %d are told", a, b)
		}
		time.Sleep(maxEvents / eventQPS * time.Second)
		synctest.Wait()
		if got, want := told["a"].Load(), 4*maxEvents-int64(dropped); got != want {
			t.Errorf("%d are told, want %d", got, want)
		}
		if len(q.room.by) != 0 || q.room.taken != 0 {
			t.Errorf("room is kept: %v", q.room)
		}
		add("a", 1)
		synctest.Wait()
		stop()
		<-done
	})
}

// Namespaces fill all of the room together, and what is given back can be taken.
func TestShares(t *testing.T) {
	s := newShares(100)
	take := func(namespace string) int {
		n := 0
		for s.take(namespace) {
			n++
		}
		return n
	}
	a, b, c := take("a"), take("b"), take("c")
	if a != 50 || b != 33 || c == 0 || a+b+c > 100 {
		t.Errorf("the shares are %d, %d, %d", a, b, c)
	}
	for range a {
		s.give("a")
	}
	if again := take("c"); again == 0 {
		t.Error("nothing is free again")
	}
}
