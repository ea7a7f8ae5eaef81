package serving_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/podverdict/podverdict/controller/serving"
)

func TestProbes(t *testing.T) {
	var sick, busy error
	handler := serving.Health(
		func(*http.Request) error { return sick },
		func(*http.Request) error { return busy },
	)
	for _, test := range []struct {
		path       string
		sick, busy error
		status     int
		text       string
	}{
		{"/healthz", nil, errors.New("busy"), 200, "ok"},
		{"/healthz", errors.New("sick"), nil, 500, "sick\n"},
		{"/readyz", errors.New("sick"), nil, 200, "ok"},
		{"/readyz", nil, errors.New("busy"), 500, "busy\n"},
		{"/livez", nil, nil, 404, "404 page not found\n"},
	} {
		sick, busy = test.sick, test.busy
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, test.path, http.NoBody))
		if w.Code != test.status || w.Body.String() != test.text {
			t.Errorf("%+v: %d %q", test, w.Code, w.Body)
		}
	}
}

func TestMetricsAreServed(t *testing.T) {
	registry := prometheus.NewRegistry()
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "answers_total", Help: "Answers."})
	registry.MustRegister(counter)
	counter.Add(42)
	w := httptest.NewRecorder()
	serving.Metrics(registry).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "\nanswers_total 42\n") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	listener := listen(t)
	served := make(chan error, 1)
	// The open request cancels the context, and is still answered.
	go func() {
		served <- serving.Serve(ctx, listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			stop()
			io.WriteString(w, "late")
		}), nil)
	}()
	response, err := http.Get("http://" + listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || string(text) != "late" {
		t.Errorf("%q, %v", text, err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if again, err := http.Get("http://" + listener.Addr().String()); err == nil {
		again.Body.Close()
		t.Error("the port still answers")
	}
}

func TestServeFailsWithItsListener(t *testing.T) {
	listener := listen(t)
	listener.Close()
	err := serving.Serve(t.Context(), listener, http.NotFoundHandler(), nil)
	if err == nil || !strings.Contains(err.Error(), "serve HTTP at "+listener.Addr().String()) {
		t.Errorf("error %v", err)
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}
