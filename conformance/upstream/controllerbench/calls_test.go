package controllerbench

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// send sends a request through the meter, to nobody.
func send(t *testing.T, m *meter, method, path string) {
	t.Helper()
	nobody := errors.New("nobody")
	transport := m.wrap(roundTrip(func(*http.Request) (*http.Response, error) { return nil, nobody }))
	//nolint:bodyclose // there is no response
	if _, err := transport.RoundTrip(httptest.NewRequest(method, "https://server"+path, http.NoBody)); !errors.Is(err, nobody) {
		t.Fatal(err)
	}
}

func TestMeter(t *testing.T) {
	m := newMeter()
	before, _ := m.read()
	for _, r := range []struct{ method, path string }{
		{"POST", "/api/v1/namespaces/n/pods"},
		{"POST", "/api/v1/namespaces/n/pods"},
		{"PATCH", "/api/v1/namespaces/n/pods/p"},
		{"DELETE", "/api/v1/namespaces/n/pods/p"},
		{"GET", "/api/v1/namespaces/n/pods/p"},
		{"PUT", "/apis/batch/v1/namespaces/n/jobs/j/status"},
		{"GET", "/api/v1/namespaces/n/pods?limit=500"},
		{"GET", "/api/v1/namespaces/n/pods?watch=true"},
		{"POST", "/api/v1/namespaces/n/events"},
		{"PATCH", "/apis/events.k8s.io/v1/namespaces/n/events/e"},
		{"GET", "/version"},
	} {
		send(t, m, r.method, r.path)
	}
	after, _ := m.read()
	made := after.since(before)
	want := Calls{
		{"create", "pods"}: 2, {"patch", "pods"}: 1, {"delete", "pods"}: 1, {"get", "pods"}: 1, {"update", "jobs/status"}: 1,
		{"list", "pods"}: 1, {"watch", "pods"}: 1, {"create", "events"}: 1, {"patch", "events"}: 1, {"get", "/version"}: 1,
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Error(diff)
	}
	if made.Total() != 7 || made.Events() != 2 {
		t.Errorf("%d calls and %d events", made.Total(), made.Events())
	}
	if diff := cmp.Diff(Calls{}, after.since(after)); diff != "" {
		t.Error(diff)
	}
}

// Watches and lists are no work, and events are none for the Job.
func TestMeterKnowsWork(t *testing.T) {
	for path, want := range map[string]struct{ work, idle bool }{
		"/api/v1/namespaces/n/pods/p":   {work: true},
		"/api/v1/namespaces/n/events/e": {},
		"/api/v1/namespaces/n/pods":     {idle: true},
	} {
		m := newMeter()
		send(t, m, http.MethodGet, path)
		_, work := m.read()
		if got := !work.IsZero(); got != want.work {
			t.Errorf("%s is work: %v", path, got)
		}
		if got := m.idle() > time.Hour; got != want.idle {
			t.Errorf("%s leaves it idle: %v", path, got)
		}
	}
}
