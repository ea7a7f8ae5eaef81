//go:build !js

package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podverdict/podverdict/internal/didyoumean"
)

func errKubeconfig(cause error) error {
	if missing, ok := errors.AsType[*fs.PathError](cause); ok && errors.Is(cause, fs.ErrNotExist) {
		return fmt.Errorf("kubeconfig %s: %w", missing.Path, missing.Err)
	}
	return fmt.Errorf("kubeconfig: %s", strings.TrimPrefix(cause.Error(), "invalid configuration: "))
}

// noKubeconfigError names the files that were searched.
type noKubeconfigError []string

func (looked noKubeconfigError) Error() string {
	return fmt.Sprintf("no kubeconfig (looked in %s): name one with --kubeconfig or KUBECONFIG", strings.Join(looked, ", "))
}

// alternatives suggests the closest known name, else lists all known names if there are few.
func alternatives(name string, known []string) string {
	if near := didyoumean.Name(name, known); near != "" {
		return fmt.Sprintf(", did you mean %s?", near)
	}
	switch {
	case len(known) == 1:
		return ", there is " + known[0]
	case len(known) > 1 && len(known) <= maxAlternatives:
		return ", there are " + strings.Join(known, ", ")
	}
	return ""
}

const maxAlternatives = 10

func keys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// request describes a request to the API server, for errors.
type request struct {
	verb, resource, namespace string // "" means all namespaces
}

// failure returns an Error with the reason why a request failed, or nil if err is nil.
func (c *Cluster) failure(err error, r request) error {
	if err == nil {
		return nil
	}
	return &Error{Err: err, message: c.sentence(err, r)}
}

// Error is a failed request.
type Error struct {
	// Err is the client's error.
	Err error

	message string
}

func (e *Error) Error() string { return e.message }

func (e *Error) Unwrap() error { return e.Err }

func (c *Cluster) sentence(err error, r request) string {
	switch {
	case apierrors.IsUnauthorized(err):
		return fmt.Sprintf("server %s does not accept the credentials of the kubeconfig (401 Unauthorized)", c.server)
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("%s\nsee %s", err, c.canI(r))
	case errors.As(err, new(*apierrors.StatusError)):
		return fmt.Sprintf("cannot %s %s: %s", r.verb, r.resource, err)
	}
	return fmt.Sprintf("server %s: %s", c.server, c.network(err))
}

// canI returns the kubectl command that checks whether a request is allowed.
func (c *Cluster) canI(r request) string {
	command := "kubectl auth can-i " + r.verb + " " + r.resource
	if r.namespace == "" {
		command += " -A"
	} else {
		command += " -n " + r.namespace
	}
	return c.InContext(command)
}

// InContext adds the requested context to a kubectl command.
func (c *Cluster) InContext(command string) string {
	if c.context != "" {
		command += " --context " + c.context
	}
	return command
}

// network describes why the server cannot be reached.
func (c *Cluster) network(err error) string {
	if host, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Sprintf("cannot find host %s: %s", host.Name, host.Err)
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") {
		return "does not speak TLS: is the address right?"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "TLS: " + certificate(err)
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused: is it running, and are host and port right?"
	case c.timeout > 0 && os.IsTimeout(err):
		return fmt.Sprintf("no answer in %s", c.timeout)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // omits the request
	}
	return err.Error()
}

// certificate describes the problem with the server's certificate, without details of the chain.
func certificate(err error) string {
	if unknown, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return unknown.Error() + ": is this the right cluster, and its certificate-authority current?"
	}
	wrong, _ := errors.AsType[*tls.CertificateVerificationError](err)
	return wrong.Err.Error()
}
