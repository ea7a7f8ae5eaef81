//go:build cluster

package install

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// process is a replica with the addresses of its probes and its metrics.
type process struct {
	*testcluster.Replica

	health, metrics string
}

// start runs a replica with the arguments of the Deployment and additional ones.
func (i *installation) start(t *testing.T, kubeconfig string, more ...string) *process {
	t.Helper()
	p := &process{Replica: i.Launch(t, kubeconfig, nil, append([]string{"--pod-failure-backoff=100ms"}, more...)...)}
	serves := func(path string) func(testcluster.Line) bool {
		return func(l testcluster.Line) bool { return slices.Contains(l.Paths, path) }
	}
	p.health, p.metrics = p.Await(t, serves("/readyz")).Address, p.Await(t, serves("/metrics")).Address
	return p
}

// says reports whether a line of the log has a message.
func says(message string) func(testcluster.Line) bool {
	return func(l testcluster.Line) bool { return l.Msg == message }
}

// get returns the response of a probe.
func get(address, path string) (status int, text string, err error) {
	response, err := http.Get("http://" + address + path)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

// gather returns the response to a request for metrics with a token. The certificate is the controller's own.
func (p *process) gather(t *testing.T, token string) (status int, text string, err error) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+p.metrics+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

func (p *process) untilReady(t *testing.T) {
	t.Helper()
	testcluster.Eventually(t, "the controller is ready", func(context.Context) (bool, error) {
		status, text, err := get(p.health, "/readyz")
		return status == http.StatusOK && text == "ok", err
	})
}
