package metrics

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// Transport counts the calls that go through it, including client-go's own retries. It is meant for rest.Config.Wrap.
func (m *Metrics) Transport(next http.RoundTripper) http.RoundTripper { return callCounter{m, next} }

type callCounter struct {
	metrics *Metrics
	next    http.RoundTripper
}

func (c callCounter) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(r)
	code := resultError
	if err == nil {
		code = strconv.Itoa(response.StatusCode/100) + "xx"
	}
	verb, resource := call(r)
	c.metrics.calls.WithLabelValues(verb, resource, closed(code, "2xx", "3xx", "4xx", "5xx", resultError)).Inc()
	return response, err
}

// WrappedRoundTripper gives client-go access to the connections.
func (c callCounter) WrappedRoundTripper() http.RoundTripper { return c.next }

// call returns the verb and the resource of a request, as the API server parses them.
func call(r *http.Request) (verb, resource string) {
	paths := request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	info, err := paths.NewRequestInfo(&http.Request{Method: r.Method, URL: &url.URL{Path: apiPath(r.URL.Path), RawQuery: r.URL.RawQuery}})
	if err != nil || !info.IsResourceRequest {
		return "other", "other"
	}
	resource = info.Resource
	if info.Subresource != "" {
		resource += "/" + info.Subresource
	}
	return closed(info.Verb, "get", "list", "watch", "create", "update", "patch", "delete"),
		closed(resource, "jobs", "jobs/status", "pods", "pods/status", "events", "namespaces", "podfailurepolicies",
			"podfailurepolicies/status", "podfailurepolicybindings", "podfailurepolicybindings/status")
}

// apiPath strips the prefix that a proxy in front of the API server adds to its paths.
func apiPath(path string) string {
	for at := range path {
		if rest := path[at:]; strings.HasPrefix(rest, "/api/") || strings.HasPrefix(rest, "/apis/") {
			return rest
		}
	}
	return path
}
