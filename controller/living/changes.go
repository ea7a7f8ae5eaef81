package living

import (
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

// changes are what has changed since the last pass began.
type changes struct {
	// wake has a value if there are any.
	wake chan struct{}
	mu   *sync.Mutex

	pods map[types.NamespacedName]bool
	jobs map[plan.Owner]bool
	// nodes are the names of nodes, and policies the namespaces with other policies in force; an empty name means all.
	nodes, policies map[string]bool
}

func newChanges() changes {
	return changes{
		make(chan struct{}, 1), &sync.Mutex{}, map[types.NamespacedName]bool{}, map[plan.Owner]bool{}, map[string]bool{}, map[string]bool{},
	}
}

// take returns the changes and forgets them.
func (c *changes) take() changes {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken, fresh := *c, newChanges()
	c.pods, c.jobs, c.nodes, c.policies = fresh.pods, fresh.jobs, fresh.nodes, fresh.policies
	return taken
}

// note adds a change.
func (c *changes) note(add func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	add()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// PodChanged must be called when a pod changes in the caches. Before or after may be nil.
func (l *Loop) PodChanged(before, after *corev1.Pod) {
	if after == nil {
		before, after = nil, before
	}
	if l.concerns(after) || before != nil && l.concerns(before) {
		l.changes.note(func() { l.changes.pods[nameOf(after)] = true })
	}
}

// JobChanged must be called when a Job changes in the caches. Before or after may be nil.
func (l *Loop) JobChanged(before, after *batchv1.Job) {
	if before != nil && after != nil && !l.matters(before, after) {
		return
	}
	if after == nil {
		after = before
	}
	l.changes.note(func() { l.changes.jobs[plan.OwnerFor(after)] = true })
}

// matters reports whether a change of a Job may change what is decided about its pods. Its status changes with each pod that
// ends, and matters only if the Job ends or rules read it.
func (l *Loop) matters(before, after *batchv1.Job) bool {
	return before.Generation != after.Generation || binding.AtWork(before) != binding.AtWork(after) ||
		!maps.Equal(before.Labels, after.Labels) || !maps.Equal(before.Annotations, after.Annotations) ||
		l.Caches.LacksJob(before) || l.Caches.RulesReadStatus() && before.ResourceVersion != after.ResourceVersion
}

// NodeChanged must be called when a node changes in the caches. Before or after may be nil.
func (l *Loop) NodeChanged(before, after *corev1.Node) {
	if after == nil {
		after = before
	}
	l.changes.note(func() { l.changes.nodes[after.Name] = true })
}

// PoliciesChanged must be called when other policies may be in force for the Jobs of a namespace, or of all if it is empty.
func (l *Loop) PoliciesChanged(namespace string) {
	l.changes.note(func() { l.changes.policies[namespace] = true })
}

// concerns reports whether there may be something to decide about a pod: a rule in force is about its phase, it has the condition
// of a rule, or it was ended on a lost node.
func (l *Loop) concerns(pod *corev1.Pod) bool {
	if _, owned := plan.OwnerOf(pod); !owned {
		return false
	}
	if phase := v1alpha1.PhaseOf(pod); v1alpha1.Lives(phase) {
		return l.Caches.RulesOn(phase) || runtime.EndedBy(pod) != nil
	}
	return pod.DeletionTimestamp != nil && l.Caches.RulesOn(v1alpha1.PhaseTerminating) && runtime.EndedBy(pod) != nil
}

// due returns the pods to look at: those that changed, those for which something else changed, and those that are due. Those
// that the last pass left come first.
func (l *Loop) due(now time.Time) []types.NamespacedName {
	c := l.changes.take()
	ruled := func(namespace string) bool { return c.policies[""] || c.policies[namespace] }
	var changed []*corev1.Pod
	if len(c.policies) > 0 {
		changed = slices.DeleteFunc(l.Caches.AllPods(), func(pod *corev1.Pod) bool { return !ruled(pod.Namespace) })
	}
	for owner := range c.jobs {
		changed = append(changed, l.Caches.PodsOf(owner)...)
	}
	for _, pod := range changed {
		if l.concerns(pod) {
			c.pods[nameOf(pod)] = true
		}
	}
	for name, e := range l.entries {
		if c.nodes[e.node] || ruled(name.Namespace) || !e.due.IsZero() && !e.due.After(now) {
			c.pods[name] = true
		}
	}
	names := l.left
	for _, name := range names {
		delete(c.pods, name)
	}
	for name := range c.pods {
		names = append(names, name)
	}
	return names
}
