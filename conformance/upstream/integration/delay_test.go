package integration

import (
	"io"
	"net/http"
	"strings"
	"time"

	upstreamjob "k8s.io/kubernetes/pkg/controller/job"
)

// delayJobs delays each event of a watch of Jobs beyond the events of their pods.
func delayJobs(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err == nil && strings.HasSuffix(request.URL.Path, "/jobs") && request.URL.Query().Has("watch") {
			response.Body = delayedBody{response.Body}
		}
		return response, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// delayedBody is the body of a watch.
type delayedBody struct{ io.ReadCloser }

// Read returns the data of the watch, late.
func (b delayedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	time.Sleep(2 * upstreamjob.SyncJobBatchPeriod)
	return n, err
}
