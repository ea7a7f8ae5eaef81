package main

import (
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// requestInfo parses paths like the API server.
var requestInfo = request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

// A meter counts the calls of the transports that it wraps, except for the lists and watches of caches.
type meter struct {
	mu   sync.Mutex
	used usage
}

// wrap returns a transport with the meter.
func (m *meter) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		info, err := requestInfo.NewRequestInfo(r)
		if err != nil {
			return nil, err
		}
		if info.Verb == "list" || info.Verb == "watch" {
			return next.RoundTrip(r)
		}
		m.touch(1, info.Resource == "events")
		defer m.touch(0, info.Resource == "events")
		return next.RoundTrip(r)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (m *meter) touch(calls int, event bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used.Last = time.Now()
	if event {
		m.used.Events += calls
		return
	}
	m.used.Calls += calls
	m.used.Work = m.used.Last
}
