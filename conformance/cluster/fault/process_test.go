//go:build cluster

package fault

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/podverdict/podverdict/internal/testing/controlplane"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// gate stands before the API server. Whoever comes through is its user admin.
type gate struct {
	*httptest.Server
	through
}

// newGate returns a gate whose calls go through a wire, and at which guard sees each one first.
func newGate(t *testing.T, config *rest.Config, w *wire, guard func(http.Handler) http.Handler) *gate {
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
		FlushInterval: -1, // a watch sends what it has
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { hangUp() },
		ErrorLog:      log.New(io.Discard, "", 0), //nolint:forbidigo // connections are broken on purpose
	}
	g.Server = httptest.NewUnstartedServer(guard(proxy))
	g.Config.ErrorLog = proxy.ErrorLog
	g.Start()
	t.Cleanup(g.CloseClientConnections)
	return g
}

// executioner is a gate at which the controller's process is killed at one of its writes.
type executioner struct {
	*gate

	guard  sync.Mutex
	writes int
	at     int
	after  bool
	victim chan *os.Process
}

func newExecutioner(t *testing.T, config *rest.Config, at int, after bool) *executioner {
	t.Helper()
	e := &executioner{at: at, after: after, victim: make(chan *os.Process, 1)}
	e.gate = newGate(t, config, &wire{}, func(proxy http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !e.last(r) {
				proxy.ServeHTTP(w, r)
				return
			}
			if e.after {
				proxy.ServeHTTP(httptest.NewRecorder(), r)
			}
			victim := <-e.victim
			if err := victim.Kill(); err != nil {
				t.Error(err)
			}
			hangUp()
		})
	})
	return e
}

// hangUp breaks the connection.
func hangUp() {
	panic(http.ErrAbortHandler) //nolint:forbidigo // it is how a handler does that
}

// last reports whether a request is the write at which the process ends.
func (e *executioner) last(r *http.Request) bool {
	if !writes(r) {
		return false
	}
	e.guard.Lock()
	defer e.guard.Unlock()
	e.writes++
	return e.writes == e.at
}

// kubeconfig returns a kubeconfig that leads to the gate.
func (g *gate) kubeconfig(t *testing.T) string {
	t.Helper()
	return testcluster.WriteKubeconfig(t, g.URL, nil, "")
}

// build returns the path of the shipped program.
func build(t *testing.T) string {
	t.Helper()
	return filepath.Join(testcluster.Build(t, testcluster.Name), testcluster.Name)
}

// TestKillAtAWrite has the process of the controller killed by SIGKILL at some of its writes, each time in the middle of a
// Job, and starts it again.
func TestKillAtAWrite(t *testing.T) {
	cluster := controlplane.Start(t)
	binary := build(t)
	r := trial{name: "killed", slots: 3, parallelism: 2, indexed: true, limit: 1, failures: []int{1, 2, 0}}
	const positions = 8 // that there are at the least: five pods, and some of the status
	for at := 1; at <= positions; at++ {
		for _, after := range []bool{false, true} {
			t.Run(strconv.Itoa(at)+" "+strconv.FormatBool(after), func(t *testing.T) {
				s := newStage(t, cluster, r)
				s.begin(t)
				if _, err := s.Client.BatchV1().Jobs(s.Namespace).Create(t.Context(), r.job(), metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
				e := newExecutioner(t, s.config, at, after)
				first := process(t, binary, e, s.Namespace)
				if err := first.Start(); err != nil {
					t.Fatal(err)
				}
				e.victim <- first.Process
				if err := first.Wait(); err == nil || first.ProcessState.ExitCode() != -1 {
					t.Fatalf("the process ends with %v", first.ProcessState)
				}
				second := process(t, binary, e, s.Namespace)
				if err := second.Start(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					_ = second.Process.Kill() // it is there
					_ = second.Wait()
				})
				s.conclude(t)
			})
		}
	}
}

func process(t *testing.T, binary string, e *executioner, namespace string) *exec.Cmd {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	t.Cleanup(stop)
	return exec.CommandContext(ctx, binary, "--kubeconfig="+e.kubeconfig(t), "--namespace="+namespace, "--leader-elect=false",
		"--health-bind-address=", "--metrics-bind-address=", "--pod-failure-backoff=20ms", "--pod-failure-max-backoff=100ms", "--job-batch-period=100ms")
}
