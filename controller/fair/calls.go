package fair

import (
	"context"
	"math"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

// limiter is a rate limiter of calls that is fair by namespaces: while calls wait, each namespace that has some gets the same
// share of them. A call is of the namespace of its context.
type limiter struct {
	qps      float32
	interval time.Duration // between two calls
	burst    time.Duration // how far calls may come before their time

	mu    sync.Mutex
	turns *Turns[*caller]
	// spare are calls that can wait: they come when no other does, and leave the burst to those that come next.
	spare *Turns[*caller]
	// due is when the next call would come if all came in time.
	due time.Time
	// waits is true while a timer runs, and wakes is when it ends.
	waits bool
	wakes time.Time
}

// caller is a call that waits.
type caller struct {
	ctx       context.Context //nolint:containedctx // the call's, which may give up
	namespace string
	turn      chan struct{}
}

// NewLimiter returns the limiter for the calls of a configuration, which may have one of its own; nil is for no limit.
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

// spareLimiter is a limiter for calls that can wait.
type spareLimiter struct{ *limiter }

// NewSpareLimiter returns the limiter of calls that come when none of another limiter's does. One that is not ours knows no such
// calls.
func NewSpareLimiter(limit flowcontrol.RateLimiter) flowcontrol.RateLimiter {
	if turns, ok := limit.(*limiter); ok {
		return spareLimiter{turns}
	}
	return limit
}

// Wait does what the limiter's Wait does.
func (s spareLimiter) Wait(ctx context.Context) error { return s.wait(ctx, s.spare) }

// namespaceKey is that of the namespace in a context.
type namespaceKey struct{}

// InNamespace returns a context for the work of a namespace.
func InNamespace(ctx context.Context, namespace string) context.Context {
	return context.WithValue(ctx, namespaceKey{}, namespace)
}

func namespaceOf(ctx context.Context) string {
	namespace, _ := ctx.Value(namespaceKey{}).(string)
	return namespace
}

// Wait returns when it is the call's turn, or when the context is done, with its error.
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

// serve lets those call whose turn it is, and comes again when there are more.
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
			continue // it has given up
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

// TryAccept takes a call that may come now, unless others wait.
func (t *limiter) TryAccept() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.turns.waiting > 0 || t.due.Add(-t.burst).After(time.Now()) {
		return false
	}
	t.take()
	return true
}

// Accept waits for the turn of a call of no namespace.
func (t *limiter) Accept() { _ = t.Wait(context.Background()) } // which is never done

// Stop has nothing to stop: nobody waits who does not want to.
func (*limiter) Stop() {}

// QPS returns how many calls a second are let through.
func (t *limiter) QPS() float32 { return t.qps }
