package simulation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
	"github.com/podverdict/podverdict/internal/kube/scenarios"
)

// Default delays of Kubernetes' controllers, in seconds.
const (
	monitorGrace = 50  // time until an unresponsive node is unreachable (pkg/controller/nodelifecycle)
	tolerated    = 300 // time for which pods tolerate that (plugin/pkg/admission/defaulttolerationseconds)
	collection   = 20  // period of pod garbage collection, which ends pods without a kubelet (pkg/controller/podgc)
)

// node is a node of the Script.
type node struct {
	name   string
	object *corev1.Node // replaced, never changed
	// silent is true if its kubelet does not respond, and since counts the changes of silent. The functions in missed are
	// reports that the kubelet makes when it responds again.
	silent bool
	since  int
	missed []func()
}

// nodeNamed returns a node by name.
func (s *simulator) nodeNamed(name string) *node {
	if s.known[name] == nil {
		s.known[name] = &node{name: name, object: scenarios.Node(name, *s.timeAt(0))}
	}
	return s.known[name]
}

// nodeOf returns the Node object of a pod, or nil.
func (s *simulator) nodeOf(p *corev1.Pod) *corev1.Node {
	if p.Spec.NodeName == "" {
		return nil
	}
	return s.nodeNamed(p.Spec.NodeName).object
}

// refusal returns the scheduler's reason for placing no pods on a node, or the empty string. The scheduler is assumed to
// observe the taint of an unresponsive node immediately.
func (n *node) refusal() string {
	switch {
	case n == nil:
		return ""
	case n.object.Spec.Unschedulable:
		return podstatus.Unscheduled
	case n.silent, len(n.object.Spec.Taints) > 0:
		return podstatus.Untolerated
	default:
		return ""
	}
}

// silent reports whether the kubelet of a pod does not respond.
func (s *simulator) silent(l *life) bool {
	n := s.known[l.pod.Spec.NodeName]
	return n != nil && n.silent
}

// onNode runs a report of a pod's kubelet now, or when the kubelet responds again.
func (s *simulator) onNode(l *life, do func()) {
	if s.silent(l) {
		n := s.known[l.pod.Spec.NodeName]
		n.missed = append(n.missed, do)
		return
	}
	do()
}

// livesOn returns the pods on a node that still exist.
func (s *simulator) livesOn(n *node) []*life {
	var all []*life
	for _, l := range s.lives {
		if l.pod.Spec.NodeName == n.name && (l.stage != ended || l.held) {
			all = append(all, l)
		}
	}
	return all
}

// change replaces the object of a node with a changed copy.
func (n *node) change(how func(*corev1.Node)) {
	n.object = n.object.DeepCopy()
	how(n.object)
}

// loseNode stops the kubelet of a node from responding. The node controller notices that after a while.
func (s *simulator) loseNode(n *node) {
	if n.silent {
		return
	}
	n.silent = true
	n.since++
	since := n.since
	s.schedule(monitorGrace, func() {
		if n.since == since {
			s.markLost(n)
		}
	})
}

// markLost acts like the node controller on an unreachable node and its pods.
func (s *simulator) markLost(n *node) {
	s.quiet = false
	n.change(func(object *corev1.Node) { scenarios.Lose(object, *s.time()) })
	for _, l := range s.livesOn(n) {
		s.report(l, func(p *corev1.Pod) { podstatus.MarkNotReady(p, *s.time()) })
		s.evictByTaint(l, n, corev1.TaintNodeUnreachable)
		s.collect(l, n)
	}
}

// takeOutNode taints a node as out of service, like an administrator who knows that it is off.
func (s *simulator) takeOutNode(n *node) {
	n.change(func(object *corev1.Node) {
		scenarios.Taint(object, corev1.TaintNodeOutOfService, corev1.TaintEffectNoExecute, *s.time())
	})
	for _, l := range s.livesOn(n) {
		s.evictByTaint(l, n, corev1.TaintNodeOutOfService)
		s.collect(l, n)
	}
}

// evictByTaint evicts a pod that no longer tolerates a new taint of its node (pkg/controller/tainteviction).
func (s *simulator) evictByTaint(l *life, n *node, key string) {
	since := n.since
	s.schedule(toleration(&l.pod.Spec, key), func() {
		if n.since == since && n.hasTaint(key) && l.stage != ended && l.pod.DeletionTimestamp == nil {
			s.quiet = false
			s.evict(l, podstatus.Tainted)
		}
	})
}

func (n *node) hasTaint(key string) bool {
	return slices.ContainsFunc(n.object.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
}

// toleration returns the number of seconds for which a pod tolerates a taint that evicts.
func toleration(spec *corev1.PodSpec, key string) int64 {
	taint := &corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute}
	shortest, found := int64(forever), false
	for i := range spec.Tolerations {
		t := &spec.Tolerations[i]
		if !t.ToleratesTaint(klog.Background(), taint, true) {
			continue
		}
		found = true
		if t.TolerationSeconds != nil {
			shortest = min(shortest, max(0, *t.TolerationSeconds))
		}
	}
	switch {
	case found:
		return shortest
	case key == corev1.TaintNodeUnreachable:
		return tolerated
	default:
		return 0
	}
}

// collect makes pod garbage collection end a deleted pod if its node is unreachable and out of service.
func (s *simulator) collect(l *life, n *node) {
	if l.pod.DeletionTimestamp == nil || !n.hasTaint(corev1.TaintNodeUnreachable) || !n.hasTaint(corev1.TaintNodeOutOfService) {
		return
	}
	since := n.since
	s.schedule(collection, func() {
		if n.since == since {
			s.stop(l, outcome{collected: true})
		}
	})
}

// restoreNode brings a node back. Its kubelet reports changes of pods that happened meanwhile, and learns which pods to
// delete. Pods without a node are placed.
func (s *simulator) restoreNode(n *node) {
	missed, drained := n.missed, n.object.Spec.Unschedulable
	*n = node{name: n.name, object: scenarios.Node(n.name, *s.time()), since: n.since + 1}
	n.object.CreationTimestamp = *s.timeAt(0)
	if drained {
		s.drainNode(n)
	}
	for _, l := range s.livesOn(n) {
		if l.held {
			s.letGo(l)
		} else if l.stage == running {
			s.report(l, func(p *corev1.Pod) { podstatus.Report(p, podstatus.SandboxReady, *s.time()) })
		}
	}
	for _, do := range missed {
		do()
	}
	for _, l := range slices.Clone(s.lives) {
		if l.stage == pending && l.placeless {
			l.placeless = false
			s.schedule(l.does.pending, func() { s.start(l) })
		}
	}
}
