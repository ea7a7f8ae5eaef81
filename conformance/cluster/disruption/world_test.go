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
	"k8s.io/client-go/kubernetes"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

func TestMain(m *testing.M) { os.Exit(controlplane.Run(m)) } //nolint:forbidigo // main of the tests

// poolLabel is of the nodes that a Job's pods may run on, with the name of the Job.
const poolLabel = "podverdict.io/pool"

// world is the cluster with all controllers that trials need.
type world struct {
	cluster          *controlplane.Cluster
	client           *kubernetes.Clientset
	history          *history
	engine           conformance.Engine
	namespace        string
	important        string // the priority class of pods that preempt
	kubectl, asAdmin string // the paths of kubectl and its kubeconfig
}

func newWorld(t *testing.T) *world {
	t.Helper()
	cluster := controlplane.Start(t, controlplane.ControllerManager, controlplane.Scheduler, controlplane.Kwok)
	client, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		cluster: cluster, client: client, namespace: cluster.Namespace(t),
		engine:  conformance.CEL(),
		kubectl: cluster.Kubectl(t), asAdmin: cluster.Kubeconfig(t, admin, "system:masters"),
	}
	w.important = w.namespace + "-important"
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: w.important}, Value: 1000}
	if _, err := client.SchedulingV1().PriorityClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.history = watch(t, client, w.namespace)
	return w
}

// addNode makes a node of the pool, with room for one pod.
func (w *world) addNode(ctx context.Context, name, pool string) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:        name,
		Labels:      map[string]string{poolLabel: pool, corev1.LabelHostname: name},
		Annotations: map[string]string{controlplane.AnnotationNode: "fake"},
	}}
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}
	_, err := w.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	return err
}

// run runs kubectl as an administrator.
func (w *world) run(ctx context.Context, args ...string) error {
	command := exec.CommandContext(ctx, w.kubectl, append(args, "--kubeconfig="+w.asAdmin)...)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %s: %w\n%s", args[0], err, out)
	}
	return nil
}
