//go:build cluster

package fault

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/podverdict/podverdict/internal/testing/controlplane"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == replicating {
		os.Exit(replicate(os.Args[2:])) //nolint:forbidigo // main of a replica
	}
	os.Exit(controlplane.Run(m)) //nolint:forbidigo // main of the tests
}

// stage is a namespace with Jobs, a kubelet and a witness.
type stage struct {
	*kubelet

	config *rest.Config
	trials []trial
}

// newStage returns a stage for Jobs that are created later. Its kubelet and witness are not running yet.
func newStage(t *testing.T, cluster *controlplane.Cluster, trials ...trial) *stage {
	t.Helper()
	world := testcluster.NewWorld(t, cluster)
	s := &stage{&kubelet{witness: newWitness(trials...), World: world, trials: map[string]trial{}}, cluster.Config, trials}
	for _, r := range trials {
		s.kubelet.trials[r.name] = r
	}
	return s
}

// begin runs the witness and the kubelet until the test ends.
func (s *stage) begin(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var both sync.WaitGroup
	both.Go(func() { s.watch(ctx, s.Client, s.Namespace) })
	both.Go(func() { s.work(ctx) })
	t.Cleanup(func() {
		stop()
		both.Wait()
	})
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

// conclude waits for the end of all Jobs, and compares them with their fates.
func (s *stage) conclude(t *testing.T) {
	t.Helper()
	for _, r := range s.trials {
		until(t, s.Namespace+"/"+r.name+" ends", func() bool { return s.settled(r.name) })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.trials {
		if job := s.jobs[r.name]; job != nil {
			if diff := cmp.Diff(r.want(), r.outcomeOf(job, len(s.made[r.name]))); diff != "" {
				t.Errorf("%+v: outcome (-want +got):\n%s%+v", r, diff, job.Status)
			}
			if wrong := s.account(r); wrong != "" {
				t.Errorf("%s: %s", s.Namespace, wrong)
			}
		}
	}
	for _, wrong := range s.wrong {
		t.Errorf("%s: %s", s.Namespace, wrong)
	}
}
