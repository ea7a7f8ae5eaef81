//go:build cluster

package fault

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// gate is a proxy in front of the API server. All its clients act as the user admin.
type gate struct {
	*httptest.Server
	through
}

// newGate returns a gate whose calls go through a wire.
func newGate(t *testing.T, config *rest.Config, w *wire) *gate {
	t.Helper()
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{through: through{w, transport}}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     g.through,
		FlushInterval: -1, // a watch flushes immediately
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { hangUp() },
		ErrorLog:      log.New(io.Discard, "", 0), //nolint:forbidigo // connections are broken on purpose
	}
	g.Server = httptest.NewUnstartedServer(proxy)
	g.Config.ErrorLog = proxy.ErrorLog
	g.Start()
	t.Cleanup(g.CloseClientConnections)
	return g
}

// hangUp breaks the connection.
func hangUp() {
	panic(http.ErrAbortHandler) //nolint:forbidigo // it is how a handler does that
}

// kubeconfig returns a kubeconfig for the gate.
func (g *gate) kubeconfig(t *testing.T) string {
	t.Helper()
	return testcluster.WriteKubeconfig(t, g.URL, nil, "")
}

// build returns the path of the shipped program.
func build(t *testing.T) string {
	t.Helper()
	return filepath.Join(testcluster.Build(t, testcluster.Name), testcluster.Name)
}
