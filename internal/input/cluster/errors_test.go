package cluster

import (
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// errUnknownHost is a resolver's error; the errors of resolvers on test machines differ.
var errUnknownHost = &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Name: "api.example.com", Err: "no such host", IsNotFound: true}}

func TestUnreachable(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = quiet()
	secure.StartTLS()
	t.Cleanup(secure.Close)
	slow := newServer(t, map[string][]answer{"get jobs/demo": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}})
	for name, test := range map[string]struct {
		config rest.Config
		want   string
	}{
		"unknown host": {
			rest.Config{Host: "https://api.example.com", Transport: failing{errUnknownHost}},
			"server https://api.example.com: cannot find host api.example.com: no such host",
		},
		"nobody listens": {
			rest.Config{Host: "https://api.example.com", Transport: failing{&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}}},
			"server https://api.example.com: connection refused: is it running, and are host and port right?",
		},
		"no TLS": {
			rest.Config{Host: strings.Replace(plain.URL, "http:", "https:", 1)},
			"server SERVER: does not speak TLS: is the address right?",
		},
		"another authority": {
			rest.Config{Host: secure.URL},
			"server SERVER: TLS: x509: certificate signed by unknown authority: is this the right cluster, and its certificate-authority current?",
		},
		"another name": {
			rest.Config{Host: secure.URL, TLSClientConfig: rest.TLSClientConfig{
				CAData: certificateOf(secure), ServerName: "elsewhere.invalid",
			}},
			"server SERVER: TLS: x509: certificate is valid for example.com, *.example.com, not elsewhere.invalid",
		},
		"slow": {
			rest.Config{Host: slow.URL, Timeout: 50 * time.Millisecond},
			"server SERVER: no answer in 50ms",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &Cluster{Namespace: "test", Progress: func(int) {}, server: test.config.Host}
			if err := c.connect(&test.config); err != nil {
				t.Fatal(err)
			}
			_, err := c.Jobs(t.Context(), Query{Targets: []Target{{Job, "demo"}}})
			want := strings.Replace(test.want, "SERVER", test.config.Host, 1)
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

// quiet returns a logger that discards a server's messages about handshakes that are meant to fail.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) } //nolint:forbidigo // a server takes no other logger

func certificateOf(s *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// TestNotFound checks that a name that does not exist is compared only with the names that the user may list.
func TestNotFound(t *testing.T) {
	forbidden := refuse(http.StatusForbidden, metav1.StatusReasonForbidden)
	for name, test := range map[string]struct {
		answers map[string][]answer
		want    string
	}{
		"nothing may be listed": {
			map[string][]answer{"list jobs": {forbidden}, namespace: {forbidden}}, `no job "demon" in namespace test`,
		},
		"misspelt": {map[string][]answer{"list jobs": {jobs(*demo())}}, `no job "demon" in namespace test, did you mean demo?`},
		"no namespace": {
			map[string][]answer{namespace: {refuse(http.StatusNotFound, metav1.StatusReasonNotFound)}}, `no namespace "test"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newServer(t, test.answers).cluster(t).Jobs(t.Context(), Query{Targets: []Target{{Job, "demon"}}})
			if message(err) != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}
