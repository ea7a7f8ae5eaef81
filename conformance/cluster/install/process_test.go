//go:build cluster

package install

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// process is a replica.
type process struct {
	command *exec.Cmd
	ended   chan struct{} // its log has ended
	health  string        // address of the probes
	metrics string

	mu    sync.Mutex
	lines []line
}

// line is one of the log.
type line struct {
	Level, Msg string
	Address    string
	Paths      []string

	text string
}

// start runs a replica with the arguments of the Deployment and some more.
func (i *installation) start(t *testing.T, kubeconfig string, more ...string) *process {
	t.Helper()
	deployment, err := i.client.AppsV1().Deployments(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	arguments := slices.Concat(argumentsOf(deployment), []string{
		"--kubeconfig=" + kubeconfig, "--health-bind-address=127.0.0.1:0", "--metrics-bind-address=localhost:0",
		"--logging-format=json", "--pod-failure-backoff=100ms",
	}, more)
	p := &process{command: exec.Command(filepath.Join(i.bin, name), arguments...), ended: make(chan struct{})}
	stderr, err := p.command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read(stderr)
	t.Cleanup(func() {
		_ = p.command.Process.Kill() // it may have ended
		<-p.ended
		_ = p.command.Wait()
		if t.Failed() {
			t.Logf("the log:\n%s", p.log())
		}
	})
	p.health = p.await(t, func(l line) bool { return slices.Contains(l.Paths, "/readyz") }).Address
	p.metrics = p.await(t, func(l line) bool { return slices.Contains(l.Paths, "/metrics") }).Address
	return p
}

// argumentsOf returns the pods' arguments, as the kubelet would fill them in.
func argumentsOf(deployment *appsv1.Deployment) []string {
	values := []string{"$(NAMESPACE)", deployment.Namespace}
	for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
		values = append(values, "$("+variable.Name+")", variable.Value)
	}
	replacer := strings.NewReplacer(values...)
	var all []string
	for _, argument := range deployment.Spec.Template.Spec.Containers[0].Args {
		all = append(all, replacer.Replace(argument))
	}
	return all
}

func (p *process) read(log io.Reader) {
	defer close(p.ended)
	for scanner := bufio.NewScanner(log); scanner.Scan(); {
		l := line{text: scanner.Text()}
		_ = json.Unmarshal(scanner.Bytes(), &l) // a panic has no form
		p.mu.Lock()
		p.lines = append(p.lines, l)
		p.mu.Unlock()
	}
}

// found returns the lines of the log so far that are so.
func (p *process) found(is func(line) bool) (all []line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lines {
		if is(l) {
			all = append(all, l)
		}
	}
	return all
}

func (p *process) log() string {
	var text bytes.Buffer
	for _, l := range p.found(func(line) bool { return true }) {
		text.WriteString(l.text + "\n")
	}
	return text.String()
}

// await waits for a line of the log.
func (p *process) await(t *testing.T, is func(line) bool) line {
	t.Helper()
	var found []line
	testcluster.Eventually(t, "the log has a line", func(context.Context) (bool, error) {
		found = p.found(is)
		return len(found) > 0, nil
	})
	return found[0]
}

// stop ends it as the kubelet does, and returns the exit code.
func (p *process) stop(t *testing.T) int {
	t.Helper()
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-p.ended
	_ = p.command.Wait() // the code says it
	return p.command.ProcessState.ExitCode()
}

// get returns the answer of a probe, or to who gathers metrics.
func get(address, path string) (status int, text string, err error) {
	response, err := http.Get("http://" + address + path)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

// gather returns what a request for metrics with a token gets. The certificate is the controller's own.
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
