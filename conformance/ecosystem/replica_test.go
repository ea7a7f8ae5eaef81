package ecosystem

import (
	"context"
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/podverdict/podverdict/config"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

var kills = flag.Int("kills", 0, "how often the controller is killed in the middle of the scenarios, at random moments")

// startController installs podverdict's controller and keeps a process of it running until the test ends. With -kills, that
// process is killed at random moments and replaced at once, until the function that is returned is called.
func (w *ecosystem) startController(t *testing.T, flags ...string) (spare func()) {
	t.Helper()
	installation := testcluster.Apply(t, w.World, config.Options{Nodes: true})
	kubeconfig := installation.Kubeconfig(t)
	start := func() *testcluster.Replica {
		return installation.Start(t, kubeconfig, nil, append(flags, "--kube-api-qps=1000", "--kube-api-burst=2000", "--leader-elect=false")...)
	}
	replica := start()
	if *kills == 0 {
		return func() {}
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int)
	go func() {
		killed := 0
		defer func() { ended <- killed }()
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Second + rand.N(5*time.Second)):
			}
			replica.Kill()
			killed++
			replica = start()
		}
	}()
	return func() {
		stop()
		if killed := <-ended; killed < *kills {
			t.Errorf("the controller was killed %d times, not %d", killed, *kills)
		} else {
			t.Logf("the controller was killed %d times", killed)
		}
	}
}
