//go:build cluster

package life

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/rest"

	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

var update = flag.Bool("update", false, "rewrite the checkpoints at which kube-controller-manager differs from the lives")

const (
	// patience allows for a machine whose cores are all busy. Usually the expected state is reached within seconds.
	patience = 2 * time.Minute
	// quiet is twice the delay after which both controllers process changed pods.
	quiet = 2 * time.Second
	// quietRecorded is longer, because recording has no expected state to wait for.
	quietRecorded = 6 * time.Second
)

func TestMain(m *testing.M) {
	// A life mostly waits, so more lives than cores can run. An explicit -parallel takes precedence.
	if err := flag.Set("test.parallel", "64"); err != nil {
		panic(err) //nolint:forbidigo // there is no test yet to fail
	}
	os.Exit(controlplane.Run(m)) //nolint:forbidigo // main of the tests
}

// TestLives runs every life with both controllers at the same time.
func TestLives(t *testing.T) {
	t.Parallel()
	cluster := controlplane.Start(t, controlplane.ControllerManager)
	client := testcluster.NewWorld(t, cluster).Client
	node := testcluster.PlayNode(t, client, "stage", nil, nil)
	stage := Stage{Client: client, Node: node.Name, Patience: patience, Quiet: quiet, Kubernetes: version.MustParseGeneric(cluster.Version)}
	t.Run("kube-controller-manager", func(t *testing.T) {
		t.Parallel()
		if *update {
			recordAll(t, cluster, stage)
			return
		}
		playAll(t, cluster, stage)
	})
	if *update {
		return // the expected state is not recorded from our own controller
	}
	t.Run("podverdict", func(t *testing.T) {
		t.Parallel()
		config := rest.CopyConfig(cluster.Config)
		config.QPS, config.Burst = 1000, 2000 // like the controller manager
		testcluster.RunController(t, controller.Options{Config: config})
		managed := stage
		managed.ManagedBy = controller.Name
		playAll(t, cluster, managed)
	})
}

// playAll runs the lives in parallel subtests.
func playAll(t *testing.T, cluster *controlplane.Cluster, stage Stage) {
	t.Helper()
	all, err := Load(os.DirFS(scenarios))
	if err != nil {
		t.Fatal(err)
	}
	for _, life := range all {
		t.Run(life.Name, func(t *testing.T) {
			t.Parallel()
			own := stage
			own.Namespace = cluster.Namespace(t)
			err := own.Play(t.Context(), life)
			if difference, ok := errors.AsType[*DifferenceError](err); ok {
				t.Fatalf("%s\nat %s (-want +got):\n%s", life.Sentence, difference.Checkpoint, cmp.Diff(difference.Want, difference.Got, cmpopts.EquateEmpty()))
			}
			if err != nil {
				t.Fatalf("%s\n%v", life.Sentence, err)
			}
		})
	}
}

// recordAll writes the new checkpoints of lives that differ from their files, and formats the other files.
func recordAll(t *testing.T, cluster *controlplane.Cluster, stage Stage) {
	t.Helper()
	all, err := Drafts(os.DirFS(scenarios))
	if err != nil {
		t.Fatal(err)
	}
	for _, life := range all {
		t.Run(life.Name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(scenarios, filepath.FromSlash(life.Name)+".txtar")
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			written, err := Rewrite(file, life, record(t, cluster, stage, life))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, written, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// record returns the checkpoints of a life: those of its file if they are right.
func record(t *testing.T, cluster *controlplane.Cluster, stage Stage, life Life) map[string]Facts {
	t.Helper()
	if life.Want != nil {
		stage.Namespace = cluster.Namespace(t)
		err := stage.Play(t.Context(), life)
		if err == nil {
			return life.Want
		}
		t.Log(err)
	}
	stage.Namespace, stage.Quiet = cluster.Namespace(t), quietRecorded
	checkpoints, err := stage.Record(t.Context(), life)
	if err != nil {
		t.Fatal(err)
	}
	return checkpoints
}
