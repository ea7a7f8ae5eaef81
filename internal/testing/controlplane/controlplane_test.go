//go:build cluster

package controlplane_test

import (
	"bufio"
	"os"
	"testing"
	"time"

	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

func TestMain(m *testing.M) {
	os.Exit(controlplane.Run(m)) //nolint:forbidigo // main of the tests
}

// endsBy is the environment variable of this test binary that selects the way in which TestEnds ends.
const endsBy = "CONTROLPLANE_ENDING"

// TestEnds ends in many ways, with a control plane running. Other tests run it as a process.
func TestEnds(t *testing.T) {
	switch os.Getenv(endsBy) {
	case "fails":
		controlplane.Start(t)
	case "panics":
		up(t)
		panic("as told") //nolint:forbidigo // it is one of the ways
	case "hangs":
		up(t, controlplane.ControllerManager, controlplane.Scheduler)
		time.Sleep(time.Hour)
	case "pauses":
		cluster := controlplane.Start(t)
		for _, component := range []controlplane.Component{controlplane.Etcd, controlplane.APIServer} {
			if err := cluster.Pause(component); err != nil {
				t.Fatal(err)
			}
		}
		up(t)
	case "unknown component":
		controlplane.Start(t, "kube-proxy")
	default:
		t.Skip("it is run by other tests")
	}
}

// up starts the control plane, prints that it is up, and waits for a line.
func up(t *testing.T, components ...controlplane.Component) {
	t.Helper()
	controlplane.Start(t, components...)
	os.Stdout.WriteString("\nup\n")
	bufio.NewReader(os.Stdin).ReadString('\n')
}
