//go:build cluster

package fault

import (
	"context"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/controlplane"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == replicating {
		os.Exit(replicate(os.Args[2:])) //nolint:forbidigo // main of a replica
	}
	os.Exit(controlplane.Run(m)) //nolint:forbidigo // main of the tests
}

// stage is a namespace of its own with Jobs and a kubelet, in which controllers live one after the other.
type stage struct {
	*kubelet

	config *rest.Config
	trials []trial
}

// newStage creates the Jobs, and has the kubelet at work until the test ends.
func newStage(t *testing.T, cluster *controlplane.Cluster, trials ...trial) *stage {
	t.Helper()
	s := newEmptyStage(t, cluster, trials...)
	s.begin(t)
	for _, r := range trials {
		if _, err := s.client.BatchV1().Jobs(s.namespace).Create(t.Context(), r.job(), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// newEmptyStage is for Jobs that are created later. Nobody is at work yet.
func newEmptyStage(t *testing.T, cluster *controlplane.Cluster, trials ...trial) *stage {
	t.Helper()
	config := rest.CopyConfig(cluster.Config)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	namespace := cluster.Namespace(t)
	s := &stage{&kubelet{witness: newWitness(trials...), client: client, namespace: namespace, trials: map[string]trial{}}, config, trials}
	for _, r := range trials {
		s.kubelet.trials[r.name] = r
	}
	return s
}

// begin has witness and kubelet at work until the test ends.
func (s *stage) begin(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var both sync.WaitGroup
	both.Go(func() { s.watch(ctx, s.client, s.namespace) })
	both.Go(func() { s.work(ctx) })
	t.Cleanup(func() {
		stop()
		both.Wait()
	})
}

// live is one life of a controller.
type live struct {
	*wire

	kill func() // ends it at once, and waits
	done chan struct{}
}

// start begins a life. It ends by itself when the wire is cut.
func (s *stage) start(t *testing.T, w *wire) *live {
	t.Helper()
	quiet := klog.NewContext(context.WithoutCancel(t.Context()), logr.Discard())
	ctx, cancel := context.WithCancel(quiet)
	w.cut = cancel
	config := rest.CopyConfig(s.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return through{w, next} })
	c, err := controller.New(controller.Options{
		Config: config, Namespace: s.namespace, BatchPeriod: 100 * time.Millisecond,
		Settings: plan.Settings{Backoff: 20 * time.Millisecond, MaxBackoff: 100 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	l := &live{wire: w, done: make(chan struct{})}
	go func() {
		defer close(l.done)
		if err := c.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	l.kill = func() {
		w.mu.Lock()
		w.dead = true
		w.mu.Unlock()
		cancel()
		<-l.done
	}
	return l
}

// over reports whether the life has ended.
func (l *live) over() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

const patience = 4 * time.Minute

// until waits for a condition.
func until(t *testing.T, what string, is func() bool) bool {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, patience, true, func(context.Context) (bool, error) { return is(), nil })
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	return err == nil
}

// conclude waits for the end of all Jobs, and holds them to their fates.
func (s *stage) conclude(t *testing.T) {
	t.Helper()
	for _, r := range s.trials {
		until(t, s.namespace+"/"+r.name+" ends", func() bool { return s.settled(r.name) })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.trials {
		if job := s.jobs[r.name]; job != nil {
			if diff := cmp.Diff(r.want(), r.outcomeOf(job, len(s.made[r.name]))); diff != "" {
				t.Errorf("%+v: outcome (-want +got):\n%s%+v", r, diff, job.Status)
			}
			if wrong := s.account(r); wrong != "" {
				t.Errorf("%s: %s", s.namespace, wrong)
			}
		}
	}
	for _, wrong := range s.wrong {
		t.Errorf("%s: %s", s.namespace, wrong)
	}
}
