package playground_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/playground"
)

const token = "the-token"

// guarded serves a page and a cluster that has one Job, which is a secret.
func guarded() http.Handler {
	files := fstest.MapFS{"index.html": {Data: []byte("page")}, "cluster/jobs.txt": {Data: []byte("page")}}
	source := playground.Source{
		List: func(context.Context) (playground.List, error) {
			return playground.List{Jobs: []playground.Job{{Namespace: "a", Name: "secret"}}}, nil
		},
		Job: func(_ context.Context, namespace, name string) ([]byte, error) {
			switch namespace + "/" + name {
			case "a/secret":
				return []byte("kind: secret"), nil
			case "a/broken":
				return nil, errors.New("connection refused")
			}
			return nil, playground.ErrNoJob
		},
	}
	return playground.Live(files, source, token)
}

// A request of the page with the token, and what others change of it.
func TestOnlyThePageReadsTheCluster(t *testing.T) {
	type change map[string]string // of headers; Host is the host
	for name, c := range map[string]struct {
		method, path string
		change       change
		status       int
		says         string
	}{
		"the page":                         {"GET", "/cluster/jobs", nil, 200, `"name":"secret"`},
		"the page opens a Job":             {"GET", "/cluster/jobs/a/secret", nil, 200, "kind: secret"},
		"a program":                        {"GET", "/cluster/jobs", change{"Sec-Fetch-Site": "", "Origin": ""}, 200, `"name":"secret"`},
		"through a forwarded port":         {"GET", "/cluster/jobs", change{"Host": "localhost:9999", "Origin": "http://localhost:9999"}, 200, `"name":"secret"`},
		"over IPv6":                        {"GET", "/cluster/jobs", change{"Host": "[::1]:8080", "Origin": "http://[::1]:8080"}, 200, `"name":"secret"`},
		"a Job that is gone":               {"GET", "/cluster/jobs/a/other", nil, 404, "no longer there"},
		"a cluster that is gone":           {"GET", "/cluster/jobs/a/broken", nil, 502, "connection refused"},
		"the page itself needs no token":   {"GET", "/", change{"Authorization": ""}, 200, "page"},
		"a link to the page":               {"GET", "/", change{"Authorization": "", "Sec-Fetch-Site": "cross-site"}, 200, "page"},
		"no token":                         {"GET", "/cluster/jobs", change{"Authorization": ""}, 401, "token"},
		"another token":                    {"GET", "/cluster/jobs", change{"Authorization": "Bearer the-tokem"}, 401, "token"},
		"a prefix of the token":            {"GET", "/cluster/jobs", change{"Authorization": "Bearer the"}, 401, "token"},
		"a token in the address":           {"GET", "/cluster/jobs?token=the-token", change{"Authorization": ""}, 401, "token"},
		"no token for a Job":               {"GET", "/cluster/jobs/a/secret", change{"Authorization": ""}, 401, "token"},
		"no token for what is not there":   {"GET", "/cluster/none", change{"Authorization": ""}, 401, "token"},
		"a path with dots":                 {"GET", "/x/../cluster/jobs", change{"Authorization": ""}, 307, ""},
		"a name that is rebound":           {"GET", "/cluster/jobs", change{"Host": "evil.example:8080", "Origin": "http://evil.example:8080"}, 403, "not this machine"},
		"a name that looks like localhost": {"GET", "/", change{"Host": "localhost.evil.example:8080"}, 403, "not this machine"},
		"an address that is not loopback":  {"GET", "/", change{"Host": "10.0.0.1:8080"}, 403, "not this machine"},
		"no host":                          {"GET", "/", change{"Host": ""}, 403, "not this machine"},
		"a page of another site":           {"GET", "/cluster/jobs", change{"Sec-Fetch-Site": "cross-site"}, 403, "another address"},
		"a page of another port":           {"GET", "/cluster/jobs", change{"Sec-Fetch-Site": "same-site"}, 403, "another address"},
		"a link to live answers":           {"GET", "/cluster/jobs", change{"Sec-Fetch-Site": "none"}, 403, "another address"},
		"another origin":                   {"GET", "/cluster/jobs", change{"Sec-Fetch-Site": "", "Origin": "http://127.0.0.1:1"}, 403, "another address"},
		"the origin of a sandbox":          {"GET", "/cluster/jobs", change{"Sec-Fetch-Site": "", "Origin": "null"}, 403, "another address"},
		"a write":                          {"POST", "/cluster/jobs", nil, 405, "only for reading"},
		"a deletion":                       {"DELETE", "/cluster/jobs/a/secret", nil, 405, "only for reading"},
		"the question of a foreign page":   {"OPTIONS", "/cluster/jobs", nil, 405, "only for reading"},
		"a write to the page":              {"POST", "/", nil, 405, "only for reading"},
		"files below the live answers":     {"GET", "/cluster/jobs.txt", nil, 404, ""},
	} {
		request := httptest.NewRequest(c.method, "http://127.0.0.1:8080"+c.path, nil)
		for header, value := range map[string]string{
			"Authorization": "Bearer " + token, "Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:8080",
		} {
			request.Header.Set(header, value)
		}
		for header, value := range c.change {
			request.Header.Set(header, value)
			if value == "" {
				request.Header.Del(header)
			}
			if header == "Host" {
				request.Host = value
			}
		}
		recorder := httptest.NewRecorder()
		guarded().ServeHTTP(recorder, request)
		body := recorder.Body.String()
		if recorder.Code != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s: %d %s, want %d %s", name, recorder.Code, body, c.status, c.says)
		}
		if c.status != 200 && strings.Contains(body, "secret") {
			t.Errorf("%s: tells of the cluster: %s", name, body)
		}
		for header, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "frame-ancestors 'none'",
			"Cross-Origin-Resource-Policy": "same-origin", "Access-Control-Allow-Origin": "",
		} {
			if got := recorder.Header().Get(header); got != want {
				t.Errorf("%s: %s is %q, want %q", name, header, got, want)
			}
		}
		if strings.HasPrefix(c.path, "/cluster/") && c.status == 200 && recorder.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: browsers may keep it", name)
		}
	}
}
