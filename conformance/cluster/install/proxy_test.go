//go:build cluster

package install

import (
	"bytes"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"

	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// proxy is a proxy in front of the API server that records calls. It identifies the caller only by the call's
// credentials.
type proxy struct {
	*httptest.Server

	mu    sync.Mutex
	calls map[call]int
	// deaf is the number of responses to pod creations that get lost.
	deaf int
}

// call is a call as RBAC sees it, and its outcome.
type call struct {
	verb, group, resource string // including the subresource
	refused               bool
}

func newProxy(t *testing.T, config *rest.Config) *proxy {
	t.Helper()
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(rest.AnonymousClientConfig(config))
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{calls: map[call]int{}}
	p.Server = httptest.NewTLSServer(&httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:      transport,
		FlushInterval:  -1, // a watch flushes immediately
		ModifyResponse: p.note,
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }, //nolint:forbidigo // breaks the connection
	})
	t.Cleanup(p.CloseClientConnections)
	return p
}

var parser = &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

var errDeaf = errors.New("the answer is lost")

func (p *proxy) note(response *http.Response) error {
	info, err := parser.NewRequestInfo(response.Request)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	resource := info.Resource
	if info.Subresource != "" {
		resource += "/" + info.Subresource
	}
	if !info.IsResourceRequest {
		resource = info.Path
	}
	refused, err := isRefused(response)
	if err != nil {
		return err
	}
	p.calls[call{info.Verb, info.APIGroup, resource, refused}]++
	if info.Verb == "create" && resource == "pods" && p.deaf > 0 {
		p.deaf--
		_, _ = io.Copy(io.Discard, response.Body)
		return errDeaf
	}
	return nil
}

// isRefused reports whether the API server did not authenticate or authorize the caller. It ignores creations in a
// namespace that is being deleted, which are forbidden for every user.
func isRefused(response *http.Response) (bool, error) {
	if response.StatusCode != http.StatusForbidden {
		return response.StatusCode == http.StatusUnauthorized, nil
	}
	body, err := io.ReadAll(response.Body)
	response.Body = io.NopCloser(bytes.NewReader(body))
	return !bytes.Contains(body, []byte("because it is being terminated")), err
}

// lose loses the responses to the next creations of pods.
func (p *proxy) lose(answers int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = answers
}

// refused returns the calls that the API server did not authorize.
func (p *proxy) refused() (all []call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.calls {
		if c.refused {
			all = append(all, c)
		}
	}
	return all
}

// used returns the permissions without which calls would have failed.
func (p *proxy) used() sets.Set[string] {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := sets.New[string]()
	for c := range p.calls {
		if !strings.HasPrefix(c.resource, "/") && c.resource != "selfsubjectaccessreviews" { // allowed for every user
			all.Insert(permission(c.verb, c.group, c.resource))
		}
	}
	return all
}

func permission(verb, group, resource string) string {
	return verb + " " + strings.TrimSuffix(resource+"."+group, ".")
}

// kubeconfig returns a kubeconfig with a token of the service account.
func (i *installation) kubeconfig(t *testing.T, p *proxy) string {
	t.Helper()
	token, err := i.Client.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw})
	return testcluster.WriteKubeconfig(t, p.URL, authority, token.Status.Token)
}
