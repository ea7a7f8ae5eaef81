//go:build cluster

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

// wire is the connection between a controller and the API server.
type wire struct {
	mu sync.Mutex
	// random makes one call in five fail, and watches lag; nil for none.
	random *rand.Rand
	// weather is a further fault of all calls for a while, including those for the lease.
	weather weather
	// late has the writes that are held.
	late []*http.Request
	// renewed is the time when the lease was last written through the wire.
	renewed time.Time
}

// weather is a temporary fault of all calls.
type weather int

const (
	fair weather = iota
	// slowed delays calls by up to slowness.
	slowed
	// throttled answers most calls with 429 and a Retry-After of one second.
	throttled
	// refused answers most calls with 500 or 503.
	refused
	// cut breaks the connections of calls and watches.
	cut
	// held delays writes of Jobs and pods until they are delivered, even if their callers give up. All other calls are
	// cut.
	held
)

// change sets the weather. Running watches notice it at their next event.
func (w *wire) change(to weather) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.weather = to
}

// calm ends all faults.
func (w *wire) calm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.weather, w.random = fair, nil
}

var errReset = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}

// writes reports whether a request changes Jobs or pods.
func writes(r *http.Request) bool {
	return r.Method != http.MethodGet && (strings.Contains(r.URL.Path, "/jobs") || strings.Contains(r.URL.Path, "/pods"))
}

// through is the wire as the transport of one of the controller's clients.
type through struct {
	*wire

	next http.RoundTripper
}

func (w through) RoundTrip(r *http.Request) (*http.Response, error) {
	if f := w.fault(r); f != nil {
		return f()
	}
	response, err := w.next.RoundTrip(r)
	if err != nil {
		return response, err
	}
	if watches(r) {
		response.Body = &slow{response.Body, w.wire}
	}
	w.noteLease(r, response)
	return response, nil
}

func watches(r *http.Request) bool { return r.URL.Query().Get("watch") == "true" }

// noteLease records that the client of this wire has written the lease.
func (w *wire) noteLease(r *http.Request, response *http.Response) {
	if r.Method == http.MethodGet || response.StatusCode >= http.StatusMultipleChoices || !strings.Contains(r.URL.Path, "/leases") {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.renewed = time.Now()
}

// effect executes a request although its sender will not see the response.
func (w through) effect(r *http.Request) {
	response, err := w.next.RoundTrip(r.Clone(context.WithoutCancel(r.Context())))
	if err == nil {
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
}

// fault returns the fault of a request, or nil.
func (w through) fault(r *http.Request) func() (*http.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.weather != fair {
		return w.storm(r) //nolint:bodyclose // who asked reads it
	}
	if w.random == nil || watches(r) || w.random.IntN(5) > 0 {
		return nil
	}
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

// storm returns the fault of a request in the current weather, or nil.
func (w through) storm(r *http.Request) func() (*http.Response, error) {
	lucky := w.random != nil && w.random.IntN(3) == 0
	switch {
	case w.weather == held && writes(r):
		return func() (*http.Response, error) { return w.hold(r) }
	case w.weather == cut, w.weather == held:
		return func() (*http.Response, error) { return nil, errReset }
	case w.weather == slowed:
		delay := time.After(w.slowness())
		return func() (*http.Response, error) {
			select {
			case <-delay:
				return w.next.RoundTrip(r)
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		}
	case lucky:
		return nil
	case w.weather == throttled:
		return func() (*http.Response, error) {
			response := refusal(r, http.StatusTooManyRequests)
			response.Header.Set("Retry-After", "1")
			return response, nil
		}
	}
	status := http.StatusInternalServerError
	if w.random != nil && w.random.IntN(2) == 0 {
		status = http.StatusServiceUnavailable
	}
	return func() (*http.Response, error) { return refusal(r, status), nil }
}

// hold stores a write, and lets its caller wait in vain.
func (w through) hold(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	late := r.Clone(context.WithoutCancel(r.Context()))
	late.Body = io.NopCloser(bytes.NewReader(body))
	w.mu.Lock()
	w.late = append(w.late, late)
	w.mu.Unlock()
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// deliver executes the held writes. Their callers are not notified.
func (w through) deliver() {
	w.mu.Lock()
	late := w.late
	w.late = nil
	w.mu.Unlock()
	for _, r := range late {
		w.effect(r)
	}
}

// slowness returns the delay of a slowed call or event, which is at most slightly longer than the timeout for renewing
// the lease. The caller must hold the mutex.
func (w *wire) slowness() time.Duration {
	const most = 2500 * time.Millisecond
	if w.random == nil {
		return most
	}
	return time.Duration(w.random.Int64N(int64(most)))
}

func refusal(r *http.Request, code int) *http.Response {
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"text/plain"}}, Body: io.NopCloser(bytes.NewBufferString(http.StatusText(code))), Request: r,
	}
}

// slow is the body of a watch that lags, and occasionally breaks.
type slow struct {
	io.ReadCloser

	wire *wire
}

var errBroken = errors.New("the watch is broken")

func (s *slow) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	lag, broken := s.wire.lag()
	if broken && err == nil {
		return 0, errBroken
	}
	time.Sleep(lag) // the delay of the lagging watch
	return n, err
}

// lag returns the delay of a watch event, or whether the watch breaks instead.
func (w *wire) lag() (lag time.Duration, broken bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.weather == cut, w.weather == held:
		return 0, true
	case w.weather == slowed:
		return w.slowness(), false
	case w.random == nil:
		return 0, false
	}
	return time.Duration(w.random.IntN(100)) * time.Millisecond, w.random.IntN(200) == 0
}
