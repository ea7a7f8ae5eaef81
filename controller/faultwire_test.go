package controller_test

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

// wire lies between one life of a controller and the API server. Calls wait on it until the test lets them through, so that
// the test decides in what order they take effect, and what goes wrong.
type wire struct {
	server *memoryapi.Server
	// arrived has something in it when a call has begun to wait.
	arrived chan struct{}
	// before is told each call before it has an effect.
	before func(*request)

	mu      sync.Mutex
	waiting []*request
	dead    bool
}

// request is a call that waits.
type request struct {
	memoryapi.Call

	http    *http.Request
	arrived time.Time
	answer  chan answer
}

type answer struct {
	response *http.Response
	err      error
}

func newWire(server *memoryapi.Server, before func(*request)) *wire {
	return &wire{server: server, arrived: make(chan struct{}, 1), before: before}
}

var errRefused = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}

// RoundTrip waits for the test. Lists and watches do not, nor do events: client-go holds a mutex while it sends them, so that
// the bubble would never be idle.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	call, err := memoryapi.ReadCall(r)
	if err != nil || call.Verb == "list" || call.Verb == "watch" || call.Resource == memoryapi.Events {
		return w.server.RoundTrip(r)
	}
	q := &request{Call: call, http: r, arrived: time.Now(), answer: make(chan answer, 1)}
	if !w.wait(q) {
		return nil, errRefused
	}
	select {
	case a := <-q.answer:
		return a.response, a.err
	case <-r.Context().Done():
		w.take(q)
		return nil, r.Context().Err()
	}
}

func (w *wire) wait(q *request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		return false
	}
	w.waiting = append(w.waiting, q)
	select {
	case w.arrived <- struct{}{}:
	default:
	}
	return true
}

// take has a request wait no more, and tells whether it did.
func (w *wire) take(q *request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.waiting, q)
	if i >= 0 {
		w.waiting = slices.Delete(w.waiting, i, i+1)
	}
	return i >= 0
}

// requests returns the requests that wait, in an order that does not depend on how goroutines are scheduled.
func (w *wire) requests() []*request {
	w.mu.Lock()
	defer w.mu.Unlock()
	sorted := slices.Clone(w.waiting)
	slices.SortStableFunc(sorted, func(a, b *request) int {
		return cmp.Or(cmp.Compare(a.Call.String(), b.Call.String()), slices.Compare(a.Body, b.Body))
	})
	return sorted
}

// cut ends the wire: what waits on it, and what comes, has no effect.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = true
	for _, q := range w.waiting {
		q.answer <- answer{err: errRefused}
	}
	w.waiting = nil
}

// serve lets a request through, and tells how it was answered.
func (w *wire) serve(q *request) int {
	w.take(q)
	w.before(q)
	response, err := w.server.RoundTrip(q.http) //nolint:bodyclose // who asked reads it
	q.answer <- answer{response, err}
	if err != nil {
		return 0
	}
	return response.StatusCode
}

// effect lets a request take effect, and tells nobody.
func (w *wire) effect(q *request) {
	w.before(q)
	r, err := w.server.RoundTrip(q.http.Clone(context.WithoutCancel(q.http.Context())))
	if err == nil {
		_ = r.Body.Close()
	}
}

// fault is something that goes wrong with a call.
type fault int

const (
	noFault       fault = iota
	conflict            // 409, without effect
	tooMany             // 429, without effect
	internal            // 500, without effect
	internalAfter       // 500, though it has taken effect
	resetBefore         // the connection breaks before
	resetAfter          // the connection breaks after it has taken effect
	lostBefore          // no answer until the client gives up, and no effect
	lostAfter           // no answer until the client gives up, but it has taken effect
	late                // the connection breaks, and it takes effect later
	faults
)

var (
	errReset    = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	errInternal = apierrors.NewInternalError(errors.New("etcdserver: leader changed"))
)

// spoil has something go wrong with a request. It tells whether the request is still to take effect.
func (w *wire) spoil(q *request, f fault) bool {
	if !w.take(q) {
		return false
	}
	switch f {
	case conflict:
		w.refuse(q, apierrors.NewConflict(schema.GroupResource{Resource: q.Resource}, q.Name, errors.New("the object has been modified")))
	case tooMany:
		w.refuse(q, apierrors.NewTooManyRequestsError("too many requests"))
	case internal:
		w.refuse(q, errInternal)
	case internalAfter:
		w.effect(q)
		w.refuse(q, errInternal)
	case resetBefore:
		q.answer <- answer{err: errReset}
	case resetAfter:
		w.effect(q)
		q.answer <- answer{err: errReset}
	case lostAfter:
		w.effect(q)
	case late:
		q.answer <- answer{err: errReset}
		return q.Writes()
	default: // lostBefore
	}
	return false
}

func (w *wire) refuse(q *request, err error) {
	q.answer <- answer{response: memoryapi.Refuse(q.http, err)} //nolint:bodyclose // who asked reads it
}
