package caches

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

// nodeWorld is an in-memory API server with one node, and caches that follow it.
type nodeWorld struct {
	*Caches

	t      *testing.T
	server *memoryapi.Server
	asked  atomic.Int32 // number of requests for nodes
	// changes are the notifications from the caches, as "name before after" with the node's readiness.
	changes []string
	refused []bool
}

func (w *nodeWorld) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/nodes") {
		w.asked.Add(1)
		time.Sleep(time.Millisecond) // lets tests observe intermediate states
	}
	return w.server.RoundTrip(r)
}

func inNodeWorld(t *testing.T, run func(*nodeWorld)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		w := &nodeWorld{t: t, server: memoryapi.New(time.Now)}
		client, err := kubernetes.NewForConfig(memoryapi.Config(w))
		fixtures.Put(t, err)
		w.Caches, err = New(client, "", true)
		fixtures.Put(t, err)
		readiness := func(n *corev1.Node) string {
			if n == nil {
				return "none"
			}
			return string(n.Status.Conditions[0].Status)
		}
		w.SubscribeNodesRefused(func() { w.refused = append(w.refused, w.NodesRefused()) })
		fixtures.Put(t, w.SubscribeNodes(func(before, after *corev1.Node) {
			w.changes = append(w.changes, readiness(before)+" "+readiness(after))
		}))
		w.apply(corev1.ConditionTrue, nil)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		if !w.Start(ctx, &running) {
			t.Fatal("the caches are not filled")
		}
		run(w)
		stop()
		running.Wait()
	})
}

// apply sets the node's readiness and labels.
func (w *nodeWorld) apply(ready corev1.ConditionStatus, labels map[string]string) {
	w.t.Helper()
	fixtures.Put(w.t, w.server.Apply(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: labels, Annotations: map[string]string{"large": "yes"}},
		Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, LastHeartbeatTime: metav1.Now()}},
			Images:     []corev1.ContainerImage{{Names: []string{"app:1"}}},
		},
	}))
	w.pass(time.Second)
}

func (*nodeWorld) pass(period time.Duration) {
	time.Sleep(period)
	synctest.Wait()
}

// read makes the caches keep the fields that a rule reads.
func (w *nodeWorld) read(when string) {
	w.t.Helper()
	w.Keep(readsOf(w.t, ruleOf(when)))
}

// ruleOf returns a policy with one rule.
func ruleOf(when string) *v1alpha1.PodFailurePolicy {
	return &v1alpha1.PodFailurePolicy{Spec: v1alpha1.PodFailurePolicySpec{Rules: []v1alpha1.Rule{{Name: "r", When: when, Action: "Ignore"}}}}
}

// expect compares the result of NodeOf with the expected one.
func (w *nodeWorld) expect(name string, exists, read bool) *corev1.Node {
	w.t.Helper()
	node, gotRead := w.NodeOf(&corev1.Pod{Spec: corev1.PodSpec{NodeName: name}})
	if (node != nil) != exists || gotRead != read {
		w.t.Errorf("node %s exists: %v, nodes are read: %v, want %v and %v", name, node != nil, gotRead, exists, read)
	}
	return node
}

// TestNodesAreReadWhenRulesReadThem checks that nodes are not requested until a rule reads them, and that the caches then keep only the
// fields that rules read.
func TestNodesAreReadWhenRulesReadThem(t *testing.T) {
	inNodeWorld(t, func(w *nodeWorld) {
		pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "a"}}
		w.Keep(readsOf(t, typicalPolicy()))
		w.pass(time.Hour)
		if w.expect("a", false, false); w.asked.Load() > 0 || w.LacksPod(pod) {
			t.Errorf("there were %d requests for nodes", w.asked.Load())
		}
		w.read("node.ready()")
		if !w.LacksPod(pod) {
			t.Error("rules may be asked before the nodes are known")
		}
		w.pass(time.Second)
		w.expect("b", false, true)
		want := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "1"},
			Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		}
		if diff := cmp.Diff(want, w.expect("a", true, true)); diff != "" || w.LacksPod(pod) {
			t.Errorf("what is kept (-want +got):\n%s", diff)
		}
		w.apply(corev1.ConditionTrue, map[string]string{"pool": "spot"})
		w.read("node.label('pool') == 'spot'")
		if !w.LacksPod(pod) {
			t.Error("rules may be asked before the labels are known")
		}
		w.pass(time.Minute)
		if node := w.expect("a", true, true); node == nil || node.Labels["pool"] != "spot" || !pruned(node) || w.LacksPod(pod) {
			t.Errorf("the node is %+v", node)
		}
	})
}

func pruned(node *corev1.Node) bool {
	return node.Annotations == nil && node.Status.Images == nil && node.Status.Conditions[0].LastHeartbeatTime.IsZero()
}

// TestNodeChangesThatRulesMaySee checks that only changes of fields that rules read are reported.
func TestNodeChangesThatRulesMaySee(t *testing.T) {
	inNodeWorld(t, func(w *nodeWorld) {
		w.read("node.ready()")
		w.pass(time.Second)
		for range 3 {
			w.apply(corev1.ConditionTrue, map[string]string{"at": time.Now().String()}) // a heartbeat, and a label that no rule reads
		}
		w.apply(corev1.ConditionUnknown, nil)
		w.server.Delete(memoryapi.Nodes, "a")
		w.pass(time.Second)
		if diff := cmp.Diff([]string{"none True", "True Unknown", "Unknown none"}, w.changes); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
		w.expect("a", false, true)
	})
}

// TestNodesMayNotBeRead checks that nodes that the controller is not allowed to read are not treated as deleted, neither initially nor
// after the permission is revoked. When the permission is granted, nodes are read without a restart.
func TestNodesMayNotBeRead(t *testing.T) {
	inNodeWorld(t, func(w *nodeWorld) {
		w.server.Remove(memoryapi.Nodes)
		w.read("node.ready()")
		for range 2 {
			w.pass(time.Minute)
			w.expect("a", false, false)
			if !w.NodesRefused() || w.LacksPod(&corev1.Pod{}) {
				t.Error("it is not known that nodes may not be read")
			}
			w.server.Serve(memoryapi.Nodes)
			w.apply(corev1.ConditionTrue, nil)
			w.pass(time.Minute)
			if w.expect("a", true, true); w.NodesRefused() {
				t.Error("it is not known that nodes may be read")
			}
			w.server.Remove(memoryapi.Nodes)
		}
		w.pass(time.Minute)
		if diff := cmp.Diff([]bool{true, false, true, false, true}, w.refused); diff != "" {
			t.Errorf("what was told (-want +got):\n%s", diff)
		}
	})
}
