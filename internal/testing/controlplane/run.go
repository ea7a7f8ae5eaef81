package controlplane

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// shared has the clusters of this process by name. Package testing has no other place shared by all tests of a package.
var shared struct {
	sync.Mutex
	clusters map[string]*sharedCluster
}

type sharedCluster struct {
	*Cluster
	err error // of the first attempt, because the next one would fail as slowly
}

// Run runs the tests of m and stops the processes they started. It returns the exit code. Call it in TestMain.
func Run(m *testing.M) int { return Main(m.Run) }

// Main is Run for a command that is not a test: the program replaces the tests, and may call Open.
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

// Start returns the control plane shared by the tests of a package, with the requested components running in it. It fails
// the test if they cannot be started.
func Start(t testing.TB, components ...Component) *Cluster {
	t.Helper()
	return StartNamed(t, "", components...)
}

// StartNamed is Start for tests of more than one cluster: each name is a separate control plane, and Start's name is
// empty.
func StartNamed(t testing.TB, name string, components ...Component) *Cluster {
	t.Helper()
	cluster, err := open(name, components)
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

// Open is Start without a test.
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
