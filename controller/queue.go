package controller

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// queue is of keys of Jobs, pods or other objects. Its workers are shared fairly by namespaces.
type queue[T comparable] = workqueue.TypedRateLimitingInterface[T]

// podKey is a pod, and its namespace.
type podKey struct {
	namespace string
	uid       types.UID
}

func keyOf(pod *corev1.Pod) podKey { return podKey{pod.Namespace, pod.UID} }

func (k podKey) String() string { return k.namespace + "/" + string(k.uid) }

// reserve is how many workers of a queue there are for namespaces of which nothing is worked on.
const reserve = 1

// newQueue returns a queue for a number of workers, and the reserve. Delays after failures double.
func newQueue[T comparable](clock clock.WithTicker, workers int, least, most time.Duration, namespaceOf func(T) string) queue[T] {
	workers += reserve
	return workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[T](least, most),
		workqueue.TypedRateLimitingQueueConfig[T]{Clock: clock, DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(
			workqueue.TypedDelayingQueueConfig[T]{Clock: clock, Queue: newFairQueue(clock, workers, namespaceOf)})},
	)
}

// fairQueue is workqueue.Typed with turns in place of one line: a key that is added while it waits is there once, and one that
// is added while it is worked on comes again after that.
type fairQueue[T comparable] struct {
	clock clock.PassiveClock

	mu    sync.Mutex
	wake  *sync.Cond
	turns *turns[T]
	// dirty keys are to be worked on, under way are those that are worked on, since when.
	dirty        map[T]bool
	underway     map[T]time.Time
	shuttingDown bool
}

func newFairQueue[T comparable](clock clock.PassiveClock, workers int, namespaceOf func(T) string) *fairQueue[T] {
	q := &fairQueue[T]{
		clock: clock, turns: newTurns(workers, namespaceOf), dirty: map[T]bool{}, underway: map[T]time.Time{},
	}
	q.wake = sync.NewCond(&q.mu)
	return q
}

// Add has a key worked on.
func (q *fairQueue[T]) Add(key T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shuttingDown || q.dirty[key] {
		return
	}
	q.dirty[key] = true
	if _, underway := q.underway[key]; !underway {
		q.turns.push(key)
		q.wake.Signal()
	}
}

// Len is how many keys wait.
func (q *fairQueue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.turns.waiting
}

// Get waits for a key that may be worked on, or the end. Done is to be called with the key.
func (q *fairQueue[T]) Get() (key T, shutdown bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if key, found := q.turns.pop(); found {
			delete(q.dirty, key)
			q.underway[key] = q.clock.Now()
			return key, false
		}
		if q.shuttingDown {
			return key, true
		}
		q.wake.Wait()
	}
}

// Done says that the work on a key has ended.
func (q *fairQueue[T]) Done(key T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	began, underway := q.underway[key]
	if !underway {
		return
	}
	delete(q.underway, key)
	q.turns.end(key, q.clock.Since(began))
	if q.dirty[key] {
		q.turns.push(key)
	}
	q.wake.Broadcast() // what could not begin while this was under way may be able to now
}

// ShutDown lets workers take what waits, and then end.
func (q *fairQueue[T]) ShutDown() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shuttingDown = true
	q.wake.Broadcast()
}

// ShutDownWithDrain also waits until the workers have ended.
func (q *fairQueue[T]) ShutDownWithDrain() {
	q.ShutDown()
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.underway) > 0 {
		q.wake.Wait()
	}
}

// ShuttingDown tells whether no more keys are taken.
func (q *fairQueue[T]) ShuttingDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.shuttingDown
}
