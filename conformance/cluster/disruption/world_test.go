//go:build cluster

package disruption

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

func TestMain(m *testing.M) { os.Exit(controlplane.Run(m)) } //nolint:forbidigo // main of the tests

// poolLabel labels the nodes that a Job's pods may run on, with the name of the Job.
const poolLabel = "podverdict.io/pool"

// disrupted is the cluster with all controllers that trials need.
type disrupted struct {
	*testcluster.World

	history   *history
	engine    conformance.Engine
	important string // priority class of preempting pods
	kubectl   string // path of kubectl
	asAdmin   string // path of a kubeconfig
}

func newDisrupted(t *testing.T) *disrupted {
	t.Helper()
	world := testcluster.Start(t, controlplane.ControllerManager, controlplane.Scheduler, controlplane.Kwok)
	w := &disrupted{
		World: world, engine: conformance.CEL(), important: world.Namespace + "-important",
		kubectl: world.Cluster.Kubectl(t), asAdmin: world.Cluster.Kubeconfig(t, admin, "system:masters"),
	}
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: w.important}, Value: 1000}
	if _, err := w.Client.SchedulingV1().PriorityClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.history = watch(t, w.Client, w.Namespace)
	return w
}

// addNode adds a node to the pool, with room for one pod.
func (w *disrupted) addNode(ctx context.Context, name, pool string) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:        name,
		Labels:      map[string]string{poolLabel: pool, corev1.LabelHostname: name},
		Annotations: map[string]string{controlplane.AnnotationNode: "fake"},
	}}
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}
	_, err := w.Client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	return err
}

// run runs kubectl as an administrator.
func (w *disrupted) run(ctx context.Context, args ...string) error {
	command := exec.CommandContext(ctx, w.kubectl, append(args, "--kubeconfig="+w.asAdmin)...)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %s: %w\n%s", args[0], err, out)
	}
	return nil
}
