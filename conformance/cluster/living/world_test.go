//go:build cluster

package living

import (
	"context"
	"flag"
	"os"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

func TestMain(m *testing.M) {
	// A trial waits more than it works: more of them than there are cores. -parallel has the last word.
	if err := flag.Set("test.parallel", "64"); err != nil {
		panic(err) //nolint:forbidigo // there is no test yet to fail
	}
	os.Exit(controlplane.Run(m)) //nolint:forbidigo // main of the tests
}

const (
	// container is the name of the only one in a Pod.
	container = "main"
	// worker is the node of the Pods that are scheduled and not to be lost.
	worker = "worker"
	// poolLabel is of the nodes that a Job's Pods may run on.
	poolLabel = "podverdict.io/pool"
	// lostPeriod is after how long a Pod that was ended on a lost node is removed by force.
	lostPeriod = 2 * time.Second
)

// world is the cluster with all controllers that trials need.
type world struct {
	cluster   *controlplane.Cluster
	client    *kubernetes.Clientset
	namespace string
	containers
	witness *witness
}

// newWorld returns a world whose controller may read nodes, or not.
func newWorld(t *testing.T, nodes bool) *world {
	t.Helper()
	cluster := controlplane.Start(t, controlplane.Scheduler, controlplane.ControllerManager.With(
		"--node-monitor-period=500ms", "--node-monitor-grace-period=6s", "--node-eviction-rate=100"))
	client, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{cluster: cluster, client: client, namespace: cluster.Namespace(t)}
	testcluster.Kubectl(t, cluster, nil, "apply", "-f", "../../../config/crd")
	testcluster.Kubectl(t, cluster, nil, "wait", "--for=condition=Established", "-f", "../../../config/crd", "--timeout=1m")
	testcluster.Kubectl(t, cluster, nil, "apply", "-f", "testdata/policies.yaml")
	w.addNode(t, worker, map[string]string{corev1.LabelHostname: worker, poolLabel: worker})
	w.witness = newWitness(t, client, w.namespace)
	config, ready := cluster.Config, "condition=Ready"
	if !nodes {
		config, ready = w.withoutNodes(t), "jsonpath={.status.conditions[0].type}=Ready" // it is False where a rule reads nodes
	}
	w.startController(t, config)
	testcluster.Kubectl(t, cluster, nil, "wait", "--for="+ready, "-f", "testdata/policies.yaml", "--timeout=1m")
	return w
}

// startController runs ours until the test ends.
func (w *world) startController(t *testing.T, config *rest.Config) {
	t.Helper()
	c, err := controller.New(controller.Options{
		Config: config, Namespace: w.namespace, Observe: true, LivingPeriod: 500 * time.Millisecond, LostPodPeriod: lostPeriod,
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

// withoutNodes returns the configuration of a user who may do everything but read nodes.
func (w *world) withoutNodes(t *testing.T) *rest.Config {
	t.Helper()
	const name = "without-nodes"
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"batch", "podverdict.io", "events.k8s.io", "coordination.k8s.io"}, Resources: []string{"*"}, Verbs: []string{"*"}},
		{APIGroups: []string{""}, Resources: []string{"pods", "pods/status", "events", "namespaces"}, Verbs: []string{"*"}},
	}}
	if _, err := w.client.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := w.client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", w.cluster.Kubeconfig(t, name))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return config
}

// addNode makes a node whose kubelet works until the test ends.
func (w *world) addNode(t *testing.T, name string, labels map[string]string) *testcluster.Node {
	t.Helper()
	return testcluster.PlayNode(t, w.client, name, labels, w.act)
}

// untilFinished waits for the end of a Job.
func (w *world) untilFinished(t *testing.T, name string) (job *batchv1.Job, last batchv1.JobCondition) {
	t.Helper()
	testcluster.Eventually(t, "Job "+name+" finishes", func(ctx context.Context) (_ bool, err error) {
		if job, err = w.client.BatchV1().Jobs(w.namespace).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return false, err
		}
		for _, last = range job.Status.Conditions {
			if last.Type == batchv1.JobComplete || last.Type == batchv1.JobFailed {
				return true, nil
			}
		}
		return false, nil
	})
	return job, last
}
