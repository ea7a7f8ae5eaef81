package controller_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

const onSpot = "node.label('pool') == 'spot'"

func nodeOf(pool string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node", Labels: map[string]string{"pool": pool}}}
}

// failOnNode ends the active pod on the node.
func (w *world) failOnNode() *corev1.Pod {
	w.t.Helper()
	for _, pod := range w.server.Pods() {
		if active(pod) {
			w.server.ChangePod(pod.Namespace, pod.Name, func(p *corev1.Pod) { p.Spec.NodeName = "node" })
		}
	}
	return w.fail(1)
}

// TestRulesSeeTheNodeOfTheFailure checks that a verdict uses the node as it was when the pod failed. Later changes of the node have no
// effect.
func TestRulesSeeTheNodeOfTheFailure(t *testing.T) {
	inWorld(t, func(w *world) { w.apply(nodeOf("spot"), customPolicy("gpu", rule("r", onSpot, ignore)), bind("gpu")) }, func(w *world) {
		w.run(one())
		pod := w.failOnNode()
		w.expectJob("failed 0")
		for _, change := range []func(){
			func() { w.apply(nodeOf("regular")) }, func() { w.server.Delete(memoryapi.Nodes, "node") },
		} {
			change()
			w.server.ChangePod(pod.Namespace, pod.Name, func(p *corev1.Pod) { p.Labels["changed"] += "x" })
			w.pass(time.Hour)
			w.expectJob("failed 0")
		}
		w.failOnNode()
		w.expectJob("failed 1")
		w.apply(nodeOf("spot"))
		w.failOnNode()
		w.expectJob("failed 1")
		w.expectReady(w.server.Policy("gpu"), "True Compiled: every expression compiles")
	})
}

// TestNodesAreNotReadable checks that without permission to read nodes, a policy that reads them reports this, and the node is absent. When
// the permission is granted, it takes effect without a restart.
func TestNodesAreNotReadable(t *testing.T) {
	prepare := func(w *world) {
		w.server.Remove(memoryapi.Nodes)
		w.apply(customPolicy("gpu", rule("r", onSpot, ignore)), bind("gpu"), customPolicy("other", rule("r", onCode3, failJob)), bind("other"))
	}
	inWorld(t, prepare, func(w *world) {
		w.run(one())
		w.failOnNode()
		w.expectJob("failed 1")
		const refused = "in force, but rules read nodes, which the controller may not: node is absent for them; podverdict generate install --nodes grants the right"
		w.expectReady(w.server.Policy("gpu"), "False NodesNotReadable: "+refused)
		w.expectReady(w.server.Policy("other"), "True Compiled: every expression compiles")
		w.expectNotes("PodFailurePolicy", "Warning NodesNotReadable: "+refused)
		w.server.Serve(memoryapi.Nodes)
		w.apply(nodeOf("spot"))
		w.pass(time.Minute)
		w.expectReady(w.server.Policy("gpu"), "True Compiled: every expression compiles")
		w.failOnNode()
		w.expectJob("failed 1")
	})
}
