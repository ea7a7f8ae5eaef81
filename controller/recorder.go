package controller

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/reference"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// eventQueue has events told as fast as the API server is called for them, and no faster: client-go starts a goroutine for
// each event that it is given. Namespaces take turns. Nobody waits for it; events for which there is no room are dropped.
type eventQueue struct {
	broadcaster events.EventBroadcaster
	metrics     *Metrics
	clock       clock.PassiveClock
	limit       flowcontrol.RateLimiter

	mu    sync.Mutex
	turns *turns[recorded]
	room  *shares
	// wake holds something when there are events.
	wake chan struct{}
	// dropped is how many events were, since logged.
	dropped int
	logged  time.Time
}

const (
	// eventQPS and eventBurst are the limits of calls for events of each kind: of verdicts, and of all others.
	eventQPS, eventBurst = 20, 100
	// maxEvents is how many events wait at most, of each kind.
	maxEvents = 5000
)

// recorded is an event that waits.
type recorded struct {
	namespace string
	tell      func()
}

func newEventQueue(o Options, broadcaster events.EventBroadcaster) *eventQueue {
	return &eventQueue{
		broadcaster: broadcaster, metrics: o.Metrics, clock: o.Clock,
		limit: flowcontrol.NewTokenBucketRateLimiter(eventQPS, eventBurst),
		turns: newTurns(0, func(r recorded) string { return r.namespace }), room: newShares(maxEvents), wake: make(chan struct{}, 1),
	}
}

// recorder records events about objects of a scheme.
func (q *eventQueue) recorder(scheme *runtime.Scheme) events.EventRecorder {
	return &recorder{q, q.broadcaster.NewRecorder(scheme, Name), scheme}
}

type recorder struct {
	queue  *eventQueue
	next   events.EventRecorder
	scheme *runtime.Scheme
}

// Eventf records an event. It keeps references to objects, which are small.
func (r *recorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	about, err := reference.GetReference(r.scheme, regarding)
	if err != nil {
		klog.Background().Error(err, "An event is about nothing that is known", "reason", reason)
		return
	}
	var other runtime.Object // which must be nil if there is none
	if related != nil {
		if ref, err := reference.GetReference(r.scheme, related); err == nil {
			other = ref
		}
	}
	text := cut(fmt.Sprintf(note, args...))
	r.queue.add(recorded{about.Namespace, func() { r.next.Eventf(about, other, kind, reason, action, "%s", text) }})
}

func (q *eventQueue) add(event recorded) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.room.take(event.namespace) {
		q.drop(event.namespace)
		return
	}
	q.turns.push(event)
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// drop counts an event for which there is no room, and says so once a minute.
func (q *eventQueue) drop(namespace string) {
	q.metrics.eventsDropped.Inc()
	q.dropped++
	if now := q.clock.Now(); now.Sub(q.logged) >= time.Minute {
		klog.Background().Error(nil, "Events were dropped: there are more than the API server is called for", "events", q.dropped, "namespace", namespace)
		q.dropped, q.logged = 0, now
	}
}

// run tells events until ctx is done.
func (q *eventQueue) run(ctx context.Context) {
	for {
		event, found := q.next()
		if !found {
			select {
			case <-ctx.Done():
				return
			case <-q.wake:
			}
			continue
		}
		if q.limit.Wait(ctx) != nil {
			return
		}
		_ = q.metrics.guard(ctx, tellingEvent, func() error { // it is in the log
			event.tell()
			return nil
		})
	}
}

func (q *eventQueue) next() (recorded, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	event, found := q.turns.pop()
	if found {
		q.turns.end(event, time.Second/eventQPS)
		q.room.give(event.namespace)
	}
	return event, found
}

// shares is room for a number of things. A namespace has no more of it than would be its share if one more namespace wanted
// some, so there is room for the next one.
type shares struct {
	most, taken int
	by          map[string]int
}

func newShares(most int) *shares { return &shares{most: most, by: map[string]int{}} }

// take takes room for one thing, if there is any for the namespace.
func (s *shares) take(namespace string) bool {
	sharing := len(s.by) + 1
	if s.by[namespace] == 0 {
		sharing++
	}
	if s.taken >= s.most || s.by[namespace] >= max(1, s.most/sharing) {
		return false
	}
	s.taken++
	s.by[namespace]++
	return true
}

func (s *shares) give(namespace string) {
	s.taken--
	if s.by[namespace]--; s.by[namespace] == 0 {
		delete(s.by, namespace)
	}
}

func (m *Metrics) describeEvents() collectors {
	m.eventsDropped = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: ours, Name: "events_dropped_total",
		Help: "Events about Jobs and policies that were dropped because too many waited to be told. Those of verdicts are in podverdict_verdict_events_total.",
	})
	return collectors{m.eventsDropped}
}
