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

// wire connects one instance of a controller to the API server. Calls wait until the test releases them, so that the test controls their
// order and their faults.
type wire struct {
	server *memoryapi.Server
	// arrived receives a value when a call has begun to wait.
	arrived chan struct{}
	// before is called with each call before it takes effect.
	before func(*request)

	mu      sync.Mutex
	waiting []*request
	dead    bool
}

// request is a waiting call.
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

// RoundTrip waits for the test. Lists, watches and events do not wait, because client-go holds a mutex while it sends events, so that the
// bubble would never be idle.
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

// take removes a request from the waiting ones, and reports whether it was waiting.
func (w *wire) take(q *request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.waiting, q)
	if i >= 0 {
		w.waiting = slices.Delete(w.waiting, i, i+1)
	}
	return i >= 0
}

// requests returns the waiting requests in an order that does not depend on goroutine scheduling.
func (w *wire) requests() []*request {
	w.mu.Lock()
	defer w.mu.Unlock()
	sorted := slices.Clone(w.waiting)
	slices.SortStableFunc(sorted, func(a, b *request) int {
		return cmp.Or(cmp.Compare(a.Call.String(), b.Call.String()), slices.Compare(a.Body, b.Body))
	})
	return sorted
}

// cut closes the wire: waiting and later calls have no effect.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = true
	for _, q := range w.waiting {
		q.answer <- answer{err: errRefused}
	}
	w.waiting = nil
}

// serve forwards a request, and returns the status code of the response.
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

// effect forwards a request without returning the response to the client.
func (w *wire) effect(q *request) {
	w.before(q)
	r, err := w.server.RoundTrip(q.http.Clone(context.WithoutCancel(q.http.Context())))
	if err == nil {
		_ = r.Body.Close()
	}
}

// fault is a way in which a call can fail.
type fault int

const (
	noFault       fault = iota
	conflict            // 409, without effect
	tooMany             // 429, without effect
	internal            // 500, without effect
	internalAfter       // 500, although it has taken effect
	resetBefore         // the connection breaks before it takes effect
	resetAfter          // the connection breaks after it has taken effect
	lostBefore          // no response until the client gives up, and no effect
	lostAfter           // no response until the client gives up, although it has taken effect
	late                // the connection breaks, and it takes effect later
	faults
)

var (
	errReset    = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	errInternal = apierrors.NewInternalError(errors.New("etcdserver: leader changed"))
)

// spoil applies a fault to a request. It reports whether the request is still to take effect.
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
