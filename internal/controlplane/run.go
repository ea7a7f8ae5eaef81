package controlplane

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
)

// supervising, as its only argument, makes a test binary the supervisor of another.
const supervising = "supervise-control-plane"

// shared has the control planes of this process, for which testing knows no other
// place: Run is the only caller that all tests of a package have in common.
var shared struct {
	sync.Mutex
	run    bool // by main, so that the supervisor is not just another run of the program
	planes map[string]*sharedPlane
}

// sharedPlane is a control plane of this process.
type sharedPlane struct {
	supervisor *supervisor
	cluster    *Cluster
	err        error // of the first attempt, as the next one would take as long to fail
}

// Run runs the tests of m and stops what they started. It returns the exit code, which is
// not 0 when a component did not stop as told. It is for TestMain, and does not parse flags.
func Run(m *testing.M) int { return Main(m.Run) }

// Main does what Run does, for a command that is not a test: the program takes the place of the tests,
// and may call Open.
func Main(program func() int) int {
	if slices.Equal(os.Args[1:], []string{supervising}) {
		return supervise()
	}
	shared.Lock()
	shared.run = true
	shared.Unlock()

	code := program()

	shared.Lock()
	defer shared.Unlock()
	for _, plane := range shared.planes {
		if plane.supervisor == nil {
			continue
		}
		if err := plane.supervisor.stop(); err != nil {
			fmt.Fprintln(os.Stderr, errStop(err))
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
	if !shared.run {
		return nil, errRun()
	}
	plane := shared.planes[name]
	if plane == nil {
		plane = &sharedPlane{}
		plane.supervisor, plane.cluster, plane.err = start()
		if shared.planes == nil {
			shared.planes = map[string]*sharedPlane{}
		}
		shared.planes[name] = plane
	}
	if plane.err != nil {
		return nil, plane.err
	}
	for _, component := range components {
		if err := plane.supervisor.do("Start", component); err != nil {
			return nil, errComponent(component, err)
		}
	}
	return plane.cluster, nil
}

func start() (*supervisor, *Cluster, error) {
	assets, err := findAssets()
	if err != nil {
		return nil, nil, err
	}
	supervisor, err := newSupervisor()
	if err != nil {
		return nil, nil, errStart(err)
	}
	cluster, err := newCluster(supervisor, assets)
	if err != nil {
		_ = supervisor.stop() // says no more than err
		return nil, nil, errStart(err)
	}
	return supervisor, cluster, nil
}
