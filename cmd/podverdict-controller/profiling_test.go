package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
)

// Profiles are served at the address of the metrics, only if enabled, and only to authorized clients.
func TestProfiling(t *testing.T) {
	for _, test := range []struct {
		profiling, authentication bool
		profile, metrics          int
	}{
		{false, false, http.StatusNotFound, http.StatusOK},
		{true, false, http.StatusOK, http.StatusOK},
		{true, true, http.StatusUnauthorized, http.StatusUnauthorized},
	} {
		f := flags{metricsAddress: "127.0.0.1:0", profiling: test.profiling, metricsAuthentication: test.authentication}
		p := &process{}
		if err := f.listen(p, &rest.Config{}, prometheus.NewRegistry()); err != nil {
			t.Fatal(err)
		}
		server := p.servers[0]
		server.listener.Close()
		for path, want := range map[string]int{"/debug/pprof/heap": test.profile, "/debug/pprof/cmdline": test.profile, "/metrics": test.metrics} {
			answer := httptest.NewRecorder()
			server.mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, http.NoBody))
			if answer.Code != want {
				t.Errorf("profiling %t, authentication %t: %s answers %d, want %d", test.profiling, test.authentication, path, answer.Code, want)
			}
		}
	}
}
