//go:build cluster

package pending

import (
	"context"
	"flag"
	"os"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/internal/controlplane"
	"github.com/podverdict/podverdict/internal/installed"
)

func TestMain(m *testing.M) {
	// A trial waits more than it works: more of them than there are cores. -parallel has the last word.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err) //nolint:forbidigo // there is no test yet to fail
	}
	os.Exit(controlplane.Run(m)) //nolint:forbidigo // main of the tests
}

const (
	// container is the name of the only one in a pod.
	container = "main"
	// node is that of the pods that are scheduled.
	node = "worker"
	// poolLabel is of the nodes that a Job's pods may run on when there is none at first.
	poolLabel = "podverdict.io/pool"
)

// world is the cluster with all controllers that trials need.
type world struct {
	cluster   *controlplane.Cluster
	client    *kubernetes.Clientset
	namespace string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	cluster := controlplane.Start(t, controlplane.ControllerManager, controlplane.Scheduler)
	client, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{cluster: cluster, client: client, namespace: cluster.Namespace(t)}
	installed.Kubectl(t, cluster, nil, "apply", "-f", "../../../config/crd")
	installed.Kubectl(t, cluster, nil, "wait", "--for=condition=Established", "-f", "../../../config/crd", "--timeout=1m")
	installed.Kubectl(t, cluster, nil, "apply", "-f", "testdata/policies.yaml")
	w.addNode(t, node, map[string]string{corev1.LabelHostname: node})
	(&kubelet{client: client, namespace: w.namespace, first: map[string]types.UID{}}).run(t)
	w.startController(t)
	installed.Kubectl(t, cluster, nil, "wait", "--for=condition=Ready", "-f", "testdata/policies.yaml", "--timeout=1m")
	return w
}

// startController runs ours until the test ends.
func (w *world) startController(t *testing.T) {
	t.Helper()
	c, err := controller.New(controller.Options{
		Config: w.cluster.Config, Namespace: w.namespace, Observe: true, PendingPeriod: 500 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.Verbosity(0)))
	ctx, stop := context.WithCancel(klog.NewContext(context.WithoutCancel(t.Context()), logger))
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the controller: %v", err)
		}
	})
}

// addNode makes a node. Nobody says that it is ready, so its pods tolerate that.
func (w *world) addNode(t *testing.T, name string, labels map[string]string) {
	t.Helper()
	object := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	object.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("100")}
	if _, err := w.client.CoreV1().Nodes().Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.client.CoreV1().Nodes().Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// pods returns the Pods of a Job.
func (w *world) pods(ctx context.Context, job string) ([]corev1.Pod, error) {
	list, err := w.client.CoreV1().Pods(w.namespace).List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}
