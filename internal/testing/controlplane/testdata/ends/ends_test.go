// Package ends is a test binary that ends in many ways, with a control plane running.
package ends

import (
	"bufio"
	"os"
	"testing"
	"time"

	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

func TestMain(m *testing.M) { os.Exit(controlplane.Run(m)) } //nolint:forbidigo // main of the tests

// up starts the control plane, says so, and waits for a line.
func up(t *testing.T, components ...controlplane.Component) {
	controlplane.Start(t, components...)
	os.Stdout.WriteString("\nup\n")
	bufio.NewReader(os.Stdin).ReadString('\n')
}

func TestFails(t *testing.T) { controlplane.Start(t) }

func TestPanics(t *testing.T) {
	up(t)
	panic("as told")
}

func TestHangs(t *testing.T) {
	up(t, controlplane.ControllerManager, controlplane.Scheduler)
	time.Sleep(time.Hour)
}

func TestPauses(t *testing.T) {
	cluster := controlplane.Start(t)
	for _, component := range []controlplane.Component{controlplane.Etcd, controlplane.APIServer} {
		if err := cluster.Pause(component); err != nil {
			t.Fatal(err)
		}
	}
	up(t)
}

func TestUnknownComponent(t *testing.T) { controlplane.Start(t, "kube-proxy") }
