package fault

import (
	"context"
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

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/podverdict/podverdict/internal/controlplane"
)

// executioner stands before the API server and kills the controller's process at one of its writes.
type executioner struct {
	*httptest.Server

	mu     sync.Mutex
	writes int
	at     int
	after  bool
	victim chan *os.Process
}

func newExecutioner(t *testing.T, config *rest.Config, at int, after bool) *executioner {
	t.Helper()
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	e := &executioner{at: at, after: after, victim: make(chan *os.Process, 1)}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1, // a watch sends what it has
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { hangUp() },
	}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	}))
	t.Cleanup(e.CloseClientConnections)
	return e
}

// hangUp breaks the connection.
func hangUp() {
	panic(http.ErrAbortHandler) //nolint:forbidigo // it is how a handler does that
}

// last tells whether a request is the write at which the process ends.
func (e *executioner) last(r *http.Request) bool {
	if !writes(r) {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.writes++
	return e.writes == e.at
}

// kubeconfig is one for the executioner.
func (e *executioner) kubeconfig(t *testing.T) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["it"] = &clientcmdapi.Cluster{Server: e.URL}
	config.Contexts["it"] = &clientcmdapi.Context{Cluster: "it"}
	config.CurrentContext = "it"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestKillAtAWrite has the process of the controller killed by SIGKILL at some of its writes, each time in the middle of a
// Job, and starts it again.
func TestKillAtAWrite(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "podverdict-controller")
	if output, err := exec.Command("go", "build", "-o", binary, "github.com/podverdict/podverdict/cmd/podverdict-controller").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	cluster := controlplane.Start(t)
	r := trial{name: "killed", slots: 3, parallelism: 2, indexed: true, limit: 1, failures: []int{1, 2, 0}}
	const positions = 8 // that there are at the least: five pods, and some of the status
	for at := 1; at <= positions; at++ {
		for _, after := range []bool{false, true} {
			t.Run(strconv.Itoa(at)+" "+strconv.FormatBool(after), func(t *testing.T) {
				s := newStage(t, cluster, r)
				e := newExecutioner(t, s.config, at, after)
				first := process(t, binary, e, s.namespace)
				if err := first.Start(); err != nil {
					t.Fatal(err)
				}
				e.victim <- first.Process
				if err := first.Wait(); err == nil || first.ProcessState.ExitCode() != -1 {
					t.Fatalf("the process ends with %v", first.ProcessState)
				}
				second := process(t, binary, e, s.namespace)
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
