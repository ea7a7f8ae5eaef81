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

// Health answers the probes of the kubelet: /healthz, with which a container that fails is restarted, and /readyz.
// The error of a check is the text of the answer, whose status is 500 then.
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

// Metrics answers /metrics with what is gathered.
func Metrics(metrics prometheus.Gatherer) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	return mux
}

// A Certificate is what a server shows its clients.
type Certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// CertificateFromFiles reads a certificate and its key, in PEM, for each connection: so it may be renewed. The error says that
// it cannot be read now.
func CertificateFromFiles(certificate, key string) (Certificate, error) {
	read := func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		return &pair, err
	}
	_, err := read(nil)
	return read, err
}

// SelfSignedCertificate makes a certificate for a host. Clients cannot tell by it with whom they speak, but nobody can listen.
func SelfSignedCertificate(host string) (Certificate, error) {
	certificate, key, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	return func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil }, err
}

// Serve answers HTTP requests, or HTTPS ones when there is a certificate, until ctx is done, and lets those under way end, for a
// second at most. It closes the listener.
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
		_ = server.Close() // a client that does not read does not keep the controller from ending
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return errServe(listener.Addr(), err)
	}
	return nil
}

func errServe(address net.Addr, err error) error {
	return fmt.Errorf("serve HTTP at %s: %w", address, err)
}
