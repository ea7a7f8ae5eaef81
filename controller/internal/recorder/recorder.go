package recorder

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/reference"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller/internal/fair"
	"github.com/podverdict/podverdict/controller/metrics"
)

// Recorder writes events within a rate limit, because client-go starts a goroutine for each event it receives. Namespaces are served in
// turn. Callers never wait, and events beyond MaxWaiting are dropped.
type Recorder struct {
	broadcaster events.EventBroadcaster
	sink        events.EventRecorder
	metrics     *metrics.Metrics
	clock       clock.PassiveClock
	limit       flowcontrol.RateLimiter

	mu    sync.Mutex
	turns *fair.Turns[recorded]
	room  *fair.Shares
	// wake receives a value when there are events to write.
	wake chan struct{}
	// dropped is the number of events dropped since drops were last logged.
	dropped int
	logged  time.Time
}

const (
	// QPS is the rate limit, in calls per second, for each kind of events: events about verdicts, and all others.
	QPS = 20
	// Burst is the number of calls that may be made at once.
	Burst = 100
	// MaxWaiting is the number of events of each kind that may wait.
	MaxWaiting = 5000
)

// recorded is a waiting event.
type recorded struct {
	namespace string
	write     func()
}

// New returns a Recorder that writes through the client, which should have the limits QPS and Burst.
func New(client kubernetes.Interface, counts *metrics.Metrics, clock clock.PassiveClock) *Recorder {
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	return &Recorder{
		broadcaster: broadcaster, sink: broadcaster.NewRecorder(scheme.Scheme, v1alpha1.JobController), metrics: counts, clock: clock,
		limit: flowcontrol.NewTokenBucketRateLimiter(QPS, Burst),
		turns: fair.NewTurns(0, func(r recorded) string { return r.namespace }), room: fair.NewShares(MaxWaiting), wake: make(chan struct{}, 1),
	}
}

// Eventf records an event about an object. It keeps only references to the objects, which are small.
func (r *Recorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	about, err := reference.GetReference(scheme.Scheme, regarding)
	if err != nil {
		klog.Background().Error(err, "An event is about nothing that is known", "reason", reason)
		return
	}
	var other runtime.Object // must be a nil interface without a related object
	if related != nil {
		if ref, err := reference.GetReference(scheme.Scheme, related); err == nil {
			other = ref
		}
	}
	text := Cut(fmt.Sprintf(note, args...))
	r.add(recorded{about.Namespace, func() { r.sink.Eventf(about, other, kind, reason, action, "%s", text) }})
}

func (r *Recorder) add(event recorded) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.room.Take(event.namespace) {
		r.drop(event.namespace)
		return
	}
	r.turns.Push(event)
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// drop counts a dropped event, and logs drops once a minute.
func (r *Recorder) drop(namespace string) {
	r.metrics.EventsDropped.Inc()
	r.dropped++
	if now := r.clock.Now(); now.Sub(r.logged) >= time.Minute {
		klog.Background().Error(nil, "Events were dropped: there are more than the API server is called for", "events", r.dropped, "namespace", namespace)
		r.dropped, r.logged = 0, now
	}
}

// Start writes events until ctx is done.
func (r *Recorder) Start(ctx context.Context, running *sync.WaitGroup) error {
	if err := r.broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		return err
	}
	running.Go(func() {
		defer r.broadcaster.Shutdown()
		r.run(ctx)
	})
	return nil
}

func (r *Recorder) run(ctx context.Context) {
	for {
		event, found := r.next()
		if !found {
			select {
			case <-ctx.Done():
				return
			case <-r.wake:
			}
			continue
		}
		if r.limit.Wait(ctx) != nil {
			return
		}
		_ = r.metrics.Guard(ctx, metrics.WritingEvent, func() error { // Guard has logged it
			event.write()
			return nil
		})
	}
}

func (r *Recorder) next() (recorded, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	event, found := r.turns.Pop()
	if found {
		r.turns.End(event, time.Second/QPS)
		r.room.Give(event.namespace)
	}
	return event, found
}
