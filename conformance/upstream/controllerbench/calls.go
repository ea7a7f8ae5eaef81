package controllerbench

import (
	"maps"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// A Kind of calls is a verb of the API and a resource, such as patch and pods or update and jobs/status.
type Kind struct{ Verb, Resource string }

func (k Kind) String() string { return k.Verb + " " + k.Resource }

// event reports whether calls of the kind record an event.
func (k Kind) event() bool { return k.Resource == "events" }

// cached reports whether calls of the kind fill a cache.
func (k Kind) cached() bool { return k.Verb == "list" || k.Verb == "watch" }

// Calls are how many calls of each kind were made.
type Calls map[Kind]int

// Total returns the number of calls by which the Job is run: those of events and caches are left out.
func (c Calls) Total() int {
	total := 0
	for kind, number := range c {
		if !kind.event() && !kind.cached() {
			total += number
		}
	}
	return total
}

// Events returns the number of calls that record events.
func (c Calls) Events() int {
	total := 0
	for kind, number := range c {
		if kind.event() {
			total += number
		}
	}
	return total
}

// plus returns the sum of both.
func (c Calls) plus(more Calls) Calls {
	sum := Calls{}
	for _, calls := range []Calls{c, more} {
		for kind, number := range calls {
			sum[kind] += number
		}
	}
	return sum
}

// since returns what was made after the calls before were.
func (c Calls) since(before Calls) Calls {
	made := Calls{}
	for kind, number := range c {
		if number > before[kind] {
			made[kind] = number - before[kind]
		}
	}
	return made
}

// A meter counts the calls of the transports that it is in.
type meter struct {
	requests *request.RequestInfoFactory

	mu    sync.Mutex
	calls Calls
	last  time.Time // begin or end of the last call that is no cache's
	work  time.Time // of the last one that is no event's either
}

func newMeter() *meter {
	return &meter{
		requests: &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")},
		calls:    Calls{},
	}
}

// wrap returns the transport with the meter in it.
func (m *meter) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		kind, err := m.kind(r)
		if err != nil {
			return nil, err
		}
		m.begin(kind)
		defer m.end(kind)
		return next.RoundTrip(r)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// kind asks the API server's own code.
func (m *meter) kind(r *http.Request) (Kind, error) {
	info, err := m.requests.NewRequestInfo(r)
	if err != nil {
		return Kind{}, err
	}
	kind := Kind{Verb: info.Verb, Resource: info.Resource}
	switch {
	case !info.IsResourceRequest:
		kind.Resource = info.Path
	case info.Subresource != "":
		kind.Resource += "/" + info.Subresource
	}
	return kind, nil
}

func (m *meter) begin(kind Kind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls[kind]++
	m.touch(kind)
}

func (m *meter) end(kind Kind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.touch(kind)
}

func (m *meter) touch(kind Kind) {
	if kind.cached() {
		return
	}
	m.last = time.Now()
	if !kind.event() {
		m.work = m.last
	}
}

// read returns all calls so far, and when the Job was last worked on.
func (m *meter) read() (calls Calls, work time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.calls), m.work
}

// idle returns the time since the last call.
func (m *meter) idle() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Since(m.last)
}
