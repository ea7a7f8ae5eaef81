//go:build cluster

package tenants

import (
	"context"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/podverdict/podverdict/config"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

func TestMain(m *testing.M) { os.Exit(controlplane.Run(m)) } //nolint:forbidigo // main of the tests

// platform is the policy in force for all Jobs of all namespaces. Its match condition reads fields that tenants make
// long.
const platform = `
apiVersion: podverdict.io/v1alpha1
kind: PodFailurePolicy
metadata: {name: platform}
spec:
  matchConditions:
  - name: has-not-opted-out
    expression: job.spec.template.spec.containers.all(c, c.?env.orValue([]).all(e, e.name != 'OPT_OUT'))
  rules:
  - {name: temporary, when: "pod.failedContainers().exists(c, c.exitCode == 75)", action: Ignore, budget: {limit: 2, then: FailJob}}
  - {name: thrice, when: "pod.failedContainers().exists(c, c.exitCode == 77) && attempts.filter(a, a.exitCode == 77).size() >= 2", action: FailJob}
  - {name: elsewhere, when: "pod.failedContainers().exists(c, c.exitCode == 78)", action: Ignore, budget: {limit: 2, then: FailJob}, retry: {avoidNode: Preferred}}
  - {name: of-an-index, when: "pod.failedContainers().exists(c, c.exitCode == 76)", action: Ignore, budget: {limit: 2, per: Index, then: FailJob}}
  - {name: forbidden, when: "pod.failedContainers().exists(c, c.exitCode == 99)", action: FailJob}
  - {name: restarts, phase: Running, when: pod.restarts() > 5, action: Count, reason: RestartLimit}
  - {name: hangs, phase: Terminating, when: pod.terminatingFor(now) > duration('2s'), action: Ignore, reason: NodeLost}
---
apiVersion: podverdict.io/v1alpha1
kind: PodFailurePolicyBinding
metadata: {name: platform}
spec: {policyName: platform, livingPods: [Running, Terminating]}
`

// Exit codes for which the platform's policy has rules.
const (
	temporary = 75 // with a budget of two for a Job
	ofAnIndex = 76 // with a budget of two for an index
	thrice    = 77 // fails the Job after two earlier failures
	elsewhere = 78 // with a budget of two for a Job; the next attempts avoid the node
	forbidden = 99
)

// tenant is the name of the attacker.
const tenant = "tenant"

// tenancy is the cluster with the installation, and its controller.
type tenancy struct {
	*testcluster.Installation

	user       *kubernetes.Clientset // client of the tenant
	kubeconfig string
	replica    *testcluster.Replica

	// scripts has the scripts of the Pods on nodes, by namespace.
	scripts sync.Map

	test *testing.T // test of the whole suite: the controller outlives an attack
}

func newTenancy(t *testing.T) *tenancy {
	t.Helper()
	world := testcluster.Start(t, controlplane.ControllerManager.With("--node-monitor-period=500ms", "--node-monitor-grace-period=6s"))
	w := &tenancy{Installation: testcluster.Apply(t, world, config.Options{Nodes: true}), test: t}
	w.kubeconfig = w.Kubeconfig(t)
	config, err := clientcmd.BuildConfigFromFlags("", w.Cluster.Kubeconfig(t, tenant))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	if w.user, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	w.addNode(t, quietNode)
	w.addNode(t, busyNode)
	w.start()
	w.Kubectl(t, []byte(platform), "apply", "-f", "-")
	w.Kubectl(t, nil, "wait", "--for=condition=Ready", "--timeout=1m", "pfp/platform", "pfpb/platform")
	return w
}

// Nodes that stay ready.
const (
	quietNode = "quiet" // for the victims
	busyNode  = "busy"  // for the attackers
)

// addNode adds a node whose kubelet runs the scripts.
func (w *tenancy) addNode(t *testing.T, name string) *testcluster.Node {
	t.Helper()
	return testcluster.PlayNode(t, w.Client, name, map[string]string{corev1.LabelTopologyZone: name}, func(pod *corev1.Pod) testcluster.Act {
		if script, found := w.scripts.Load(pod.Namespace); found {
			return script.(testcluster.Script)(pod)
		}
		return testcluster.Act{}
	})
}

// start starts the controller. It has the arguments of the Deployment, a higher rate of calls, as in a cluster with many
// tenants, and a short back-off for the test.
func (w *tenancy) start() {
	w.replica = w.Start(w.test, w.kubeconfig, nil,
		"--kube-api-qps=200", "--kube-api-burst=300", "--pod-failure-backoff=100ms", "--living-period=1s", "--lost-pod-period=3s")
	limitMemory(w.replica)
}

// revive fails the test if the controller has died, and starts another one for the next test.
func (w *tenancy) revive(t *testing.T) {
	t.Helper()
	select {
	case <-w.replica.Ended:
		t.Errorf("the controller has died; the end of its log is:\n%s", tail(w.replica.Log()))
		w.start()
	default:
	}
}

func tail(log string) string {
	const most = 4096
	return log[max(0, len(log)-most):]
}

// newNamespace creates a namespace in which the tenant has a built-in role.
func (w *tenancy) newNamespace(t *testing.T, role string) string {
	t.Helper()
	namespace := w.Cluster.Namespace(t)
	_, err := w.Client.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: tenant},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: tenant}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	testcluster.Eventually(t, "the tenant may "+role, func(ctx context.Context) (bool, error) {
		_, err := w.user.BatchV1().Jobs(namespace).List(ctx, metav1.ListOptions{})
		return err == nil, err
	})
	t.Cleanup(func() { w.clear(t, namespace) })
	return namespace
}

// quota limits the number of the attacker's Pods, as platforms do.
func (a *attacker) quota(pods int64) {
	a.Helper()
	quotas := a.Client.CoreV1().ResourceQuotas(a.namespace)
	_, err := quotas.Create(a.Context(), &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "pods"}, Spec: corev1.ResourceQuotaSpec{
		Hard: corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(pods, resource.DecimalSI)},
	}}, metav1.CreateOptions{})
	if err != nil {
		a.Fatal(err)
	}
	testcluster.Eventually(a, "the quota is in force", func(ctx context.Context) (bool, error) {
		quota, err := quotas.Get(ctx, "pods", metav1.GetOptions{})
		return err == nil && quota.Status.Hard != nil, err
	})
}

// clear removes the Jobs and Pods of a namespace, so that an attack does not add to the earlier ones.
func (w *tenancy) clear(t *testing.T, namespace string) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.WithoutCancel(t.Context()), 3*patience) // there may be thousands
	defer stop()
	background := metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}
	if err := w.Client.BatchV1().Jobs(namespace).DeleteCollection(ctx, background, metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
	pods := w.Client.CoreV1().Pods(namespace)
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	for ; ; time.Sleep(100 * time.Millisecond) { // repeat until none are left
		left, err := pods.List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Errorf("the namespace is not cleared: %v", err)
			return
		}
		jobs, err := w.Client.BatchV1().Jobs(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		if err == nil && len(left.Items)+len(jobs.Items) == 0 {
			return
		}
		for _, pod := range left.Items {
			if slices.Contains(pod.Finalizers, stay) || len(pod.OwnerReferences) == 0 && len(pod.Finalizers) > 0 {
				_, _ = pods.Patch(ctx, pod.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			}
		}
		_ = pods.DeleteCollection(ctx, now, metav1.ListOptions{})
	}
}
