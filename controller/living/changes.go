package living

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// changes holds the changes since the last pass began: pod names, owners of pods, nodes, and namespaces in which different
// policies are in effect.
type changes struct {
	// wake receives a value if there are any changes.
	wake chan struct{}

	mu  sync.Mutex
	all map[any]bool
}

type (
	// node is the name of a node that changed.
	node string
	// ruled is a namespace in which different policies are in effect, or empty for all namespaces.
	ruled string
)

func (c *changes) note(change any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[change] = true
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// take returns the changes and removes them.
func (c *changes) take() map[any]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.all
	c.all = map[any]bool{}
	return taken
}

// PodChanged must be called when a pod changes in the caches. Before or after may be nil.
func (l *Loop) PodChanged(before, after *corev1.Pod) {
	for _, pod := range []*corev1.Pod{before, after} {
		if pod != nil && l.concerns(pod) {
			l.changes.note(nameOf(pod))
			return
		}
	}
}

// JobChanged must be called when a Job changes in the caches. Before or after may be nil.
func (l *Loop) JobChanged(before, after *batchv1.Job) {
	if before == nil || after == nil || l.matters(before, after) {
		l.changes.note(plan.OwnerFor(cmp.Or(after, before)))
	}
}

// matters reports whether a change of a Job may affect decisions about its pods. Its status changes with each pod that ends, and
// is relevant only if the Job ends or rules read the status.
func (l *Loop) matters(before, after *batchv1.Job) bool {
	return before.Generation != after.Generation || binding.AtWork(before) != binding.AtWork(after) ||
		!maps.Equal(before.Labels, after.Labels) || !maps.Equal(before.Annotations, after.Annotations) ||
		l.Caches.LacksJob(before) || l.Caches.RulesReadStatus() && before.ResourceVersion != after.ResourceVersion
}

// NodeChanged must be called when a node changes in the caches. Before or after may be nil.
func (l *Loop) NodeChanged(before, after *corev1.Node) {
	l.changes.note(node(cmp.Or(after, before).Name))
}

// PoliciesChanged must be called when different policies may be in effect for the Jobs of a namespace, or for all Jobs if it is
// empty.
func (l *Loop) PoliciesChanged(namespace string) { l.changes.note(ruled(namespace)) }

// concerns reports whether a decision about a pod may be needed: a rule in effect applies to its phase, it has the condition of a
// rule, or it was ended on a lost node.
func (l *Loop) concerns(pod *corev1.Pod) bool {
	if _, owned := plan.OwnerOf(pod); !owned {
		return false
	}
	if phase := v1alpha1.PhaseOf(pod); v1alpha1.Lives(phase) {
		return l.Caches.RulesOn(phase) || runtime.EndedBy(pod) != nil
	}
	return pod.DeletionTimestamp != nil && l.Caches.RulesOn(v1alpha1.PhaseTerminating) && runtime.EndedBy(pod) != nil
}

// due returns the pods to evaluate: pods that changed, pods affected by other changes, and pods that are due. Pods left over from
// the last pass come first.
func (l *Loop) due(now time.Time) []types.NamespacedName {
	changes := l.changes.take()
	names := map[types.NamespacedName]bool{}
	add := func(pods []*corev1.Pod, wanted func(namespace string) bool) {
		for _, pod := range pods {
			if wanted(pod.Namespace) && l.concerns(pod) {
				names[nameOf(pod)] = true
			}
		}
	}
	isRuled := func(namespace string) bool { return changes[ruled(namespace)] || changes[ruled("")] }
	anyRuled := false
	for change := range changes {
		switch change := change.(type) {
		case types.NamespacedName:
			names[change] = true
		case plan.Owner:
			add(l.Caches.PodsOf(change), func(string) bool { return true })
		case ruled:
			anyRuled = true
		}
	}
	if anyRuled {
		add(l.Caches.AllPods(), isRuled)
	}
	for name, e := range l.entries {
		if len(changes) > 0 && (isRuled(name.Namespace) || changes[node(e.node)]) || !e.due.IsZero() && !e.due.After(now) {
			names[name] = true
		}
	}
	all := l.left
	for _, name := range all {
		delete(names, name)
	}
	return slices.AppendSeq(all, maps.Keys(names))
}
