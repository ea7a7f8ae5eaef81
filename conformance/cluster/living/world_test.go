//go:build cluster

package living

import (
	"flag"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

func TestMain(m *testing.M) {
	// A trial mostly waits, so more trials than cores can run. An explicit -parallel takes precedence.
	if err := flag.Set("test.parallel", "64"); err != nil {
		panic(err) //nolint:forbidigo // there is no test yet to fail
	}
	os.Exit(controlplane.Run(m)) //nolint:forbidigo // main of the tests
}

const (
	// worker is the node of the Pods that are scheduled and not to be lost.
	worker = "worker"
	// poolLabel labels the nodes that a Job's Pods may run on.
	poolLabel = "podverdict.io/pool"
	// lostPeriod is the time after which a Pod that was ended on a lost node is removed by force.
	lostPeriod = 2 * time.Second
)

// start returns the cluster that all tests share.
func start(t *testing.T) *testcluster.World {
	t.Helper()
	world := testcluster.Start(t, controlplane.Scheduler, controlplane.ControllerManager.With(
		"--node-monitor-period=500ms", "--node-monitor-grace-period=6s", "--node-eviction-rate=100"))
	world.InstallKinds(t, "../../../config/crd")
	return world
}

// troubled is the cluster with all controllers that trials need.
type troubled struct {
	*testcluster.World
	containers

	witness *witness
}

// newTroubled returns a world whose controller may read nodes if nodes is true.
func newTroubled(t *testing.T, nodes bool) *troubled {
	t.Helper()
	w := &troubled{World: start(t)}
	w.Kubectl(t, nil, "apply", "-f", "testdata/living.yaml")
	w.addNode(t, worker, map[string]string{corev1.LabelHostname: worker, poolLabel: worker})
	w.witness = newWitness(t, w.Client, w.Namespace)
	config, ready := w.Cluster.Config, "condition=Ready"
	if !nodes {
		config, ready = w.withoutNodes(t), "jsonpath={.status.conditions[0].type}=Ready" // it is False where a rule reads nodes
	}
	testcluster.RunController(t, controller.Options{
		Config: config, Namespace: w.Namespace, Observe: true, LivingPeriod: 500 * time.Millisecond, LostPodPeriod: lostPeriod,
	})
	w.Kubectl(t, nil, "wait", "--for="+ready, "-f", "testdata/living.yaml", "--timeout=1m")
	return w
}

// withoutNodes returns the configuration of a user who may do everything but read nodes.
func (w *troubled) withoutNodes(t *testing.T) *rest.Config {
	t.Helper()
	const name = "without-nodes"
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"batch", "podverdict.io", "events.k8s.io", "coordination.k8s.io"}, Resources: []string{"*"}, Verbs: []string{"*"}},
		{APIGroups: []string{""}, Resources: []string{"pods", "pods/status", "events", "namespaces"}, Verbs: []string{"*"}},
	}}
	if _, err := w.Client.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := w.Client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", w.Cluster.Kubeconfig(t, name))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return config
}

// addNode adds a node whose kubelet runs until the test ends.
func (w *troubled) addNode(t *testing.T, name string, labels map[string]string) *testcluster.Node {
	t.Helper()
	return testcluster.PlayNode(t, w.Client, name, labels, w.act)
}
