package fair

import (
	"context"
	"math"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

// limiter is a rate limiter for calls to the API server that is fair to namespaces: all namespaces with waiting calls
// get the same share. The context of a call carries its namespace.
type limiter struct {
	qps      float32
	interval time.Duration // between two calls
	burst    time.Duration // how early calls may be released

	mu    sync.Mutex
	turns *Turns[*caller]
	// spare holds low-priority calls. They are released only when no other call waits, and they leave the burst to
	// later calls.
	spare *Turns[*caller]
	// due is the time at which the next call would be released if none had been released early.
	due time.Time
	// waits is true while a timer runs, and wakes is when it fires.
	waits bool
	wakes time.Time
}

// caller is a waiting call.
type caller struct {
	ctx       context.Context //nolint:containedctx // done when the caller gives up
	namespace string
	turn      chan struct{}
}

// NewLimiter returns the rate limiter that a client configuration describes: its own RateLimiter, one with its QPS and
// Burst, or nil for no limit.
func NewLimiter(config *rest.Config) flowcontrol.RateLimiter {
	qps, burst := config.QPS, config.Burst
	switch {
	case config.RateLimiter != nil:
		return config.RateLimiter
	case qps < 0:
		return nil
	case qps == 0:
		qps = rest.DefaultQPS
	}
	if burst == 0 {
		burst = rest.DefaultBurst
	}
	interval := time.Duration(math.Ceil(float64(time.Second) / float64(qps)))
	turns := func() *Turns[*caller] { return NewTurns(0, func(c *caller) string { return c.namespace }) }
	return &limiter{
		qps: qps, interval: interval, burst: time.Duration(burst-1) * interval, turns: turns(), spare: turns(),
	}
}

// spareLimiter is a limiter for low-priority calls.
type spareLimiter struct{ *limiter }

// NewSpareLimiter returns a limiter whose calls are released only when no call of the given limiter waits. A limiter
// that does not come from NewLimiter is returned unchanged.
func NewSpareLimiter(limit flowcontrol.RateLimiter) flowcontrol.RateLimiter {
	if turns, ok := limit.(*limiter); ok {
		return spareLimiter{turns}
	}
	return limit
}

func (s spareLimiter) Wait(ctx context.Context) error { return s.wait(ctx, s.spare) }

// namespaceKey is the context key for the namespace of a call.
type namespaceKey struct{}

// InNamespace returns a context that marks calls as belonging to the namespace.
func InNamespace(ctx context.Context, namespace string) context.Context {
	return context.WithValue(ctx, namespaceKey{}, namespace)
}

func namespaceOf(ctx context.Context) string {
	namespace, _ := ctx.Value(namespaceKey{}).(string)
	return namespace
}

// Wait returns when it is the call's turn, or with the context's error when the context is done.
func (t *limiter) Wait(ctx context.Context) error { return t.wait(ctx, t.turns) }

func (t *limiter) wait(ctx context.Context, turns *Turns[*caller]) error {
	c := &caller{ctx: ctx, namespace: namespaceOf(ctx), turn: make(chan struct{})}
	t.mu.Lock()
	turns.Push(c)
	t.serve()
	t.mu.Unlock()
	select {
	case <-c.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// serve releases the calls that are due, and sets a timer for the others.
func (t *limiter) serve() {
	for t.turns.waiting+t.spare.waiting > 0 {
		next, burst := t.turns, t.burst
		if next.waiting == 0 {
			next, burst = t.spare, 0
		}
		if wait := time.Until(t.due.Add(-burst)); wait > 0 {
			t.serveAfter(wait)
			return
		}
		c, _ := next.Pop()
		if c.ctx.Err() != nil {
			next.End(c, 0)
			continue // the caller has given up
		}
		next.End(c, t.interval)
		t.take()
		close(c.turn)
	}
}

func (t *limiter) take() {
	now := time.Now()
	if t.due.Before(now) {
		t.due = now
	}
	t.due = t.due.Add(t.interval)
}

func (t *limiter) serveAfter(wait time.Duration) {
	wakes := time.Now().Add(wait)
	if t.waits && !wakes.Before(t.wakes) {
		return
	}
	t.waits, t.wakes = true, wakes
	time.AfterFunc(wait, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.waits = false
		t.serve()
	})
}

// TryAccept releases a call if it may proceed now and no other waits.
func (t *limiter) TryAccept() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.turns.waiting > 0 || t.due.Add(-t.burst).After(time.Now()) {
		return false
	}
	t.take()
	return true
}

// Accept waits for the turn of a call without a namespace.
func (t *limiter) Accept() { _ = t.Wait(context.Background()) } // this context is never done

// Stop does nothing: callers stop waiting when their context is done.
func (*limiter) Stop() {}

// QPS returns the number of calls released per second.
func (t *limiter) QPS() float32 { return t.qps }
