package fair

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// Queue holds keys of Jobs, pods or other objects, and shares its workers fairly between namespaces.
type Queue[T comparable] = workqueue.TypedRateLimitingInterface[T]

// reserve is the number of additional workers that serve only namespaces that occupy no worker.
const reserve = 1

// NewQueue returns a queue for the given number of workers plus the reserve. The delay doubles with each failure of a
// key, from least to most.
func NewQueue[T comparable](clock clock.WithTicker, workers int, least, most time.Duration, namespaceOf func(T) string) Queue[T] {
	workers += reserve
	return workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[T](least, most),
		workqueue.TypedRateLimitingQueueConfig[T]{Clock: clock, DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(
			workqueue.TypedDelayingQueueConfig[T]{Clock: clock, Queue: newTurnQueue(clock, workers, namespaceOf)})},
	)
}

// Work runs the workers of a queue, including the reserve. Each worker calls do for one key after the other. When ctx is done,
// Work shuts the queue down, and returns when all workers have ended.
func Work[T comparable](ctx context.Context, q Queue[T], workers int, do func(T)) {
	var working sync.WaitGroup
	for range workers + reserve {
		working.Go(func() {
			for {
				key, down := q.Get()
				if down || ctx.Err() != nil {
					return
				}
				do(key)
				q.Done(key)
			}
		})
	}
	<-ctx.Done()
	q.ShutDown()
	working.Wait()
}

// queue is workqueue.Typed with Turns instead of a single list. A key that is added while it waits is kept once. A key that is
// added while a worker processes it is queued again afterwards.
type queue[T comparable] struct {
	clock clock.PassiveClock

	mu    sync.Mutex
	wake  *sync.Cond
	turns *Turns[T]
	// dirty holds the keys that need work. underway maps the keys being processed to their start times.
	dirty        map[T]bool
	underway     map[T]time.Time
	shuttingDown bool
}

func newTurnQueue[T comparable](clock clock.PassiveClock, workers int, namespaceOf func(T) string) *queue[T] {
	q := &queue[T]{
		clock: clock, turns: NewTurns(workers, namespaceOf), dirty: map[T]bool{}, underway: map[T]time.Time{},
	}
	q.wake = sync.NewCond(&q.mu)
	return q
}

// Add queues a key.
func (q *queue[T]) Add(key T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shuttingDown || q.dirty[key] {
		return
	}
	q.dirty[key] = true
	if _, underway := q.underway[key]; !underway {
		q.turns.Push(key)
		q.wake.Signal()
	}
}

// Len returns the number of waiting keys.
func (q *queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.turns.waiting
}

// Get waits for a key that may be processed, or for the shutdown. The caller must call Done with the key.
func (q *queue[T]) Get() (key T, shutdown bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if key, found := q.turns.Pop(); found {
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

// Done marks the processing of a key as finished.
func (q *queue[T]) Done(key T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	began, underway := q.underway[key]
	if !underway {
		return
	}
	delete(q.underway, key)
	q.turns.End(key, q.clock.Since(began))
	if q.dirty[key] {
		q.turns.Push(key)
	}
	q.wake.Broadcast() // a key that had to wait for this one may be able to start now
}

// ShutDown lets workers process the waiting keys and then end.
func (q *queue[T]) ShutDown() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shuttingDown = true
	q.wake.Broadcast()
}

// ShutDownWithDrain shuts down and waits until the workers have ended.
func (q *queue[T]) ShutDownWithDrain() {
	q.ShutDown()
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.underway) > 0 {
		q.wake.Wait()
	}
}

// ShuttingDown reports whether the queue refuses new keys.
func (q *queue[T]) ShuttingDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.shuttingDown
}
