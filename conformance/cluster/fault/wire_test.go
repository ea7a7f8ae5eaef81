package fault

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"
)

// wire is between a controller and the API server.
type wire struct {
	mu     sync.Mutex
	writes int
	// cutAt is the write at which the wire breaks for ever, 0 for never: after the write has taken effect, or before. Then
	// cut is called.
	cutAt    int
	cutAfter bool
	cut      func()
	dead     bool
	// random has one call of five go wrong, and watches lag; nil for none.
	random *rand.Rand
	faults int
}

var (
	errReset   = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	errRefused = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
)

// writes tells whether a request changes Jobs or pods.
func writes(r *http.Request) bool {
	return r.Method != http.MethodGet && (strings.Contains(r.URL.Path, "/jobs") || strings.Contains(r.URL.Path, "/pods"))
}

// through is the wire on the way to the transport of one of the controller's clients.
type through struct {
	*wire

	next http.RoundTripper
}

func (w through) RoundTrip(r *http.Request) (*http.Response, error) {
	switch dead, last, after := w.count(r); {
	case dead:
		return nil, errRefused
	case last:
		if after {
			w.effect(r)
		}
		w.cut()
		return nil, errReset
	}
	if f := w.fault(r); f != nil {
		return f()
	}
	response, err := w.next.RoundTrip(r)
	if err == nil && w.random != nil && r.URL.Query().Get("watch") == "true" {
		response.Body = &slow{response.Body, w.wire}
	}
	return response, err
}

// count tells whether the wire is dead, and whether it dies with this request.
func (w *wire) count(r *http.Request) (dead, last, after bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead || !writes(r) {
		return w.dead, false, false
	}
	w.writes++
	w.dead = w.writes == w.cutAt
	return false, w.dead, w.cutAfter
}

// effect lets a request take effect, though who sent it will not know.
func (w through) effect(r *http.Request) {
	response, err := w.next.RoundTrip(r.Clone(context.WithoutCancel(r.Context())))
	if err == nil {
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
}

// fault is what goes wrong with a request, or nil.
func (w through) fault(r *http.Request) func() (*http.Response, error) {
	if w.random == nil || r.URL.Query().Get("watch") == "true" {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.random.IntN(5) > 0 {
		return nil
	}
	w.faults++
	effective := w.random.IntN(2) == 0
	status, broken := 0, error(nil)
	switch w.random.IntN(5) {
	case 0:
		status = http.StatusTooManyRequests
		effective = false
	case 1:
		status = http.StatusConflict
		effective = false
		if r.Method == http.MethodPost {
			status = http.StatusServiceUnavailable
		}
	case 2:
		status = http.StatusInternalServerError
	case 3:
		broken = errReset
	default:
		broken = context.DeadlineExceeded
	}
	return func() (*http.Response, error) {
		if effective {
			w.effect(r)
		}
		if broken != nil {
			return nil, broken
		}
		return refusal(r, status), nil
	}
}

func refusal(r *http.Request, code int) *http.Response {
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"text/plain"}}, Body: io.NopCloser(bytes.NewBufferString(http.StatusText(code))), Request: r,
	}
}

// slow is the body of a watch that lags, and breaks now and then.
type slow struct {
	io.ReadCloser

	wire *wire
}

var errBroken = errors.New("the watch is broken")

func (s *slow) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.wire.mu.Lock()
	lag, broken := time.Duration(s.wire.random.IntN(100))*time.Millisecond, s.wire.random.IntN(200) == 0
	s.wire.mu.Unlock()
	if broken && err == nil {
		return 0, errBroken
	}
	time.Sleep(lag) // what lags, waits
	return n, err
}
