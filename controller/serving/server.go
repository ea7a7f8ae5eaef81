package serving

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/client-go/util/cert"
)

// Health returns a handler for the kubelet's probes: /healthz, whose failure restarts the container, and /readyz. If a check
// returns an error, the response is the error's text with status 500.
func Health(healthy, ready func(*http.Request) error) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /healthz", probe(healthy))
	mux.Handle("GET /readyz", probe(ready))
	return mux
}

func probe(check func(*http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := check(r); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, "ok")
	}
}

// Metrics returns a handler for /metrics.
func Metrics(metrics prometheus.Gatherer) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	return mux
}

// A Certificate returns the server's certificate for a connection.
type Certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// CertificateFromFiles returns a Certificate that reads a PEM certificate and its key for each connection, so that they can
// be renewed. It returns an error if the files cannot be read initially.
func CertificateFromFiles(certificate, key string) (Certificate, error) {
	read := func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		return &pair, err
	}
	_, err := read(nil)
	return read, err
}

// SelfSignedCertificate creates a certificate for a host. It encrypts connections, but clients cannot verify it.
func SelfSignedCertificate(host string) (Certificate, error) {
	certificate, key, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	return func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil }, err
}

// Serve serves HTTP, or HTTPS if certificate is not nil, until ctx is done. It then waits up to a second for open requests,
// and closes the listener.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, certificate Certificate) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 90 * time.Second}
	ended := make(chan error, 1)
	go func() {
		if certificate == nil {
			ended <- server.Serve(listener)
			return
		}
		server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate}
		ended <- server.ServeTLS(listener, "", "")
	}()
	select {
	case err := <-ended:
		return errServe(listener.Addr(), err)
	case <-ctx.Done():
	}
	grace, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer stop()
	if err := server.Shutdown(grace); err != nil {
		_ = server.Close() // a client that does not read must not block shutdown
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return errServe(listener.Addr(), err)
	}
	return nil
}

func errServe(address net.Addr, err error) error {
	return fmt.Errorf("serve HTTP at %s: %w", address, err)
}
