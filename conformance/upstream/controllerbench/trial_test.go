package controllerbench

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/podverdict/podverdict/internal/controlplane"
)

func TestMain(m *testing.M) { os.Exit(controlplane.Run(m)) } //nolint:forbidigo // main of the tests

// Both controllers go through all milestones, and their calls are counted. How long it takes is not looked at.
func TestTrial(t *testing.T) {
	t.Parallel()
	config := controlplane.Start(t).Config
	const pods = 10
	for _, contender := range []Contender{Upstream(), Podverdict()} {
		for _, tt := range []struct {
			shape  Shape
			phases []Milestone
			lives  int
		}{
			{Succeed(), []Milestone{Created, Finished, Released}, 1},
			{Fail(), []Milestone{Created, Replaced, Finished, Released}, 2},
		} {
			t.Run(contender.Name+" "+tt.shape.Name, func(t *testing.T) {
				t.Parallel()
				trial := Trial{Config: config, Contender: contender, Limit: DefaultLimit, Shape: tt.shape, Pods: pods, Log: io.Discard}
				phases, err := trial.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var milestones []Milestone
				all := Calls{}
				for _, phase := range phases {
					milestones = append(milestones, phase.Milestone)
					all = all.plus(phase.Calls)
				}
				if diff := cmp.Diff(tt.phases, milestones); diff != "" {
					t.Error(diff)
				}
				// Upstream may remove a finalizer more than once.
				created, released := all[Kind{"create", "pods"}], all[Kind{"patch", "pods"}]
				written := all[Kind{"update", "jobs/status"}] + all[Kind{"patch", "jobs/status"}] // upstream, and ours
				if created != tt.lives*pods || released < tt.lives*pods || written < 2 {
					t.Errorf("%d pods created, %d released, %d writes of the status: %v", created, released, written, all)
				}
			})
		}
	}
}

// A trial that ends early leaves no pods, finalizers or not.
func TestTrialClears(t *testing.T) {
	t.Parallel()
	config := controlplane.Start(t).Config
	client, err := newClient(config)
	if err != nil {
		t.Fatal(err)
	}
	var namespace string
	own := Podverdict()
	spied := Contender{Name: own.Name, managedBy: own.managedBy, run: func(ctx context.Context, c *rest.Config, in string, up func()) error {
		namespace = in
		return own.run(ctx, c, in, up)
	}}
	trial := Trial{Config: config, Contender: spied, Limit: DefaultLimit, Shape: Fail(), Pods: 2, Last: Created, Log: io.Discard}
	phases, err := trial.Run(t.Context())
	if err != nil || len(phases) != 1 {
		t.Fatalf("%d phases, %v", len(phases), err)
	}
	left, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(left.Items) > 0 {
		t.Errorf("%d pods are left, %v", len(left.Items), err)
	}
}

func TestTrialOfABrokenController(t *testing.T) {
	t.Parallel()
	config := controlplane.Start(t).Config
	broken := errors.New("broken")
	for name, run := range map[string]func(context.Context, *rest.Config, string, func()) error{
		"does not come up": func(context.Context, *rest.Config, string, func()) error { return broken },
		"goes down":        func(_ context.Context, _ *rest.Config, _ string, up func()) error { up(); return broken },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trial := Trial{Config: config, Contender: Contender{Name: "bad", run: run}, Limit: DefaultLimit, Shape: Succeed(), Pods: 3, Log: io.Discard}
			_, err := trial.Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), "3 pods succeed") {
				t.Errorf("got %v", err)
			}
		})
	}
}
