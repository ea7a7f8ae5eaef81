package scenarios

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
)

// Node returns a node that is ready, as the kubelet registers it.
func Node(name string, since metav1.Time) *corev1.Node {
	node := &corev1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: since, Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		}},
	}
	for _, c := range []corev1.NodeCondition{
		{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientMemory"},
		{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure"},
		{Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientPID"},
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"},
	} {
		c.LastTransitionTime = since
		node.Status.Conditions = append(node.Status.Conditions, c)
	}
	return node
}

// Lose changes a node like the node controller when the kubelet no longer responds
// (pkg/controller/nodelifecycle/node_lifecycle_controller.go).
func Lose(node *corev1.Node, since metav1.Time) {
	for i := range node.Status.Conditions {
		c := &node.Status.Conditions[i]
		c.Status, c.LastTransitionTime = corev1.ConditionUnknown, since
		c.Reason, c.Message = "NodeStatusUnknown", "Kubelet stopped posting node status."
	}
	Taint(node, corev1.TaintNodeUnreachable, corev1.TaintEffectNoSchedule, since)
	Taint(node, corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute, since)
}

// Taint adds a taint to a node.
func Taint(node *corev1.Node, key string, effect corev1.TaintEffect, since metav1.Time) {
	node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: key, Effect: effect, TimeAdded: &since})
}

func readyNode() *corev1.Node { return Node("node-0", created) }

func (l *life) taint(key string, effect corev1.TaintEffect) { Taint(l.node, key, effect, ended) }

// lost makes the Pod's node unreachable while the Pod runs.
func (l *life) lost() {
	l.runs()
	Lose(l.node, ended)
	podstatus.MarkNotReady(l.pod, ended)
}

// unreachable deletes a Pod on an unreachable node, where no kubelet ends it. Pods tolerate the taint for five minutes.
func (l *life) unreachable() {
	l.lost()
	podstatus.Tainted.Write(l.pod, ended)
	l.deletedWithin(30)
	l.pod.DeletionTimestamp = new(metav1.NewTime(ended.Add(5*time.Minute + 30*time.Second)))
}
