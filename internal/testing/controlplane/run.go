package controlplane

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// shared has the clusters of this process by their names. Testing knows no other place that all tests of a package share.
var shared struct {
	sync.Mutex
	clusters map[string]*sharedCluster
}

type sharedCluster struct {
	*Cluster
	err error // of the first attempt, as the next one would take as long to fail
}

// Run runs the tests of m and stops what they started. It returns the exit code. It is for TestMain.
func Run(m *testing.M) int { return Main(m.Run) }

// Main does what Run does, for a command that is not a test: the program takes the place of the tests,
// and may call Open.
func Main(program func() int) int {
	code := program()
	shared.Lock()
	defer shared.Unlock()
	for _, cluster := range shared.clusters {
		if cluster.Cluster == nil {
			continue
		}
		if err := cluster.janitor.dismiss(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the control plane:", err)
			code = max(code, 1)
		}
	}
	return code
}

// Start returns the control plane that the tests of a package share, with the components
// asked for running in it. It fails the test when they cannot be had.
func Start(t testing.TB, components ...Component) *Cluster {
	t.Helper()
	return StartNamed(t, "", components...)
}

// StartNamed does what Start does, for tests of more than one cluster: each name is a control plane of
// its own, and Start's has none.
func StartNamed(t testing.TB, name string, components ...Component) *Cluster {
	t.Helper()
	cluster, err := open(name, components)
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

// Open does what Start does, without a test.
func Open(components ...Component) (*Cluster, error) { return open("", components) }

func open(name string, components []Component) (*Cluster, error) {
	shared.Lock()
	defer shared.Unlock()
	known := shared.clusters[name]
	if known == nil {
		known = &sharedCluster{}
		known.Cluster, known.err = newCluster(flagsOf(APIServer, components))
		if shared.clusters == nil {
			shared.clusters = map[string]*sharedCluster{}
		}
		shared.clusters[name] = known
	}
	if known.err != nil {
		return nil, known.err
	}
	for _, component := range components {
		if err := known.start(component); err != nil {
			return nil, err
		}
	}
	return known.Cluster, nil
}
