package ecosystem

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/internal/testing/controlplane"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// livingSuites have rules on Pods that live, and nodes whose kubelets stop. In the first, Kueue ends Pods on lost nodes, too; in
// the second it evicts Workloads whose Pods are not ready.
var livingSuites = []suite{
	{folder: "living", programs: []program{jobset, recovering(kueue)}},
	{folder: "livingready", programs: []program{jobset, kueue}, more: `
waitForPodsReady:
  timeout: 1m
  recoveryTimeout: 4s
  requeuingStrategy: {backoffBaseSeconds: 4, backoffLimitCount: 2}
`},
}

// recovering returns Kueue with the controller of KEP-6757, which ends Pods on lost nodes that have its annotation.
func recovering(p program) program {
	p.config = strings.Replace(p.config, "featureGates: {", "featureGates: {FailureRecoveryPolicy: true, ", 1)
	return p
}

// TestLiving runs scenarios of Pods that restart in place or are on lost nodes, in a cluster that soon sees that a node is lost.
func TestLiving(t *testing.T) {
	w := newEcosystem(t, "living", "--node-monitor-period=500ms", "--node-monitor-grace-period=6s", "--node-eviction-rate=100")
	defer w.startController(t, "--lost-pod-period=1m")() // when Kueue's period is over, too
	for _, s := range livingSuites {
		t.Run(s.folder, func(t *testing.T) { w.in(t).play(t, s) })
	}
}

// node makes a node for Pods of the namespace. Its kubelet does what the annotations of Pods say, as kwok does.
func (a *arm) node(_ *testscript.TestScript, args []string) error {
	name, labels := a.namespace+"-"+args[0], map[string]string{"arm": a.namespace, corev1.LabelTopologyZone: a.namespace}
	a.nodes[args[0]] = testcluster.PlayNode(a.test, a.Client, name, labels, obey)
	return nil
}

func obey(pod *corev1.Pod) testcluster.Act {
	code, err := strconv.ParseInt(pod.Annotations[controlplane.AnnotationExitCode], 10, 32)
	return testcluster.Act{Ends: err == nil, Code: int32(code)}
}

// lose stops the kubelet of a node, on which no more Pods start, and waits until the taint manager has deleted its Pods.
func (a *arm) lose(_ *testscript.TestScript, args []string) error {
	node := a.nodes[args[0]]
	if node == nil {
		return fmt.Errorf("there is no node %s", args[0])
	}
	node.Stop()
	cordon := []byte(`{"spec":{"unschedulable":true}}`)
	if _, err := a.Client.CoreV1().Nodes().Patch(a.context, node.Name, types.MergePatchType, cordon, metav1.PatchOptions{}); err != nil {
		return err
	}
	return a.untilPods(args[0], func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
}

// resume starts it again.
func (a *arm) resume(_ *testscript.TestScript, args []string) error {
	node := a.nodes[args[0]]
	if node == nil {
		return fmt.Errorf("there is no node %s", args[0])
	}
	node.Resume()
	return nil
}

// gone waits until no Pods are on a node.
func (a *arm) gone(_ *testscript.TestScript, args []string) error {
	return a.untilPods(args[0], func(*corev1.Pod) bool { return false })
}

// untilPods waits until all Pods on a node are such as is said.
func (a *arm) untilPods(node string, such func(*corev1.Pod) bool) error {
	return await(a.context, "the Pods on node "+node+" are such", func(ctx context.Context) error {
		pods, err := a.Client.CoreV1().Pods(a.namespace).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + a.namespace + "-" + node})
		if err != nil {
			return err
		}
		for i := range pods.Items {
			if pod := &pods.Items[i]; !such(pod) {
				return fmt.Errorf("%s is in phase %s", pod.Name, pod.Status.Phase)
			}
		}
		return nil
	})
}

// created holds that so many Pods were created in the namespace.
func (a *arm) created(_ *testscript.TestScript, args []string) error {
	var names []string
	for _, event := range a.Cluster.AuditLog(a.test, a.namespace) {
		if event.Verb == "create" && event.ObjectRef.Resource == "pods" && event.ObjectRef.Subresource == "" && event.ResponseStatus.Code == http.StatusCreated {
			names = append(names, event.ObjectRef.Name)
		}
	}
	if want := args[0]; strconv.Itoa(len(names)) != want {
		return fmt.Errorf("%d Pods were created, not %s: %v", len(names), want, names)
	}
	return nil
}
