package caches

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/internal/history"
	"github.com/podverdict/podverdict/internal/snapshot"
)

// keeping is the set of fields that a cache keeps of each object: the fields read by the controller, and the fields read by custom rules.
type keeping struct {
	rules  cel.Fields
	pruner *cel.Pruner
	// large prunes managed Jobs with a large template.
	large *cel.Pruner
	// mark replaces metadata.managedFields in objects that were trimmed to this set and on which rules may be evaluated. It lets the caches
	// detect which fields an object lacks. The content of the mark is never read.
	mark []metav1.ManagedFieldsEntry
	// before is the previous set, or nil.
	before *keeping
	// history reports whether the fields written to the history are kept, too.
	history bool
}

func newKeeping(of *keeper, rules cel.Fields, before *keeping) *keeping {
	kept, t := cel.Fields{}, of.typ
	kept.AddAll(of.own)
	kept.AddAll(rules)
	k := &keeping{rules: rules, pruner: cel.Load().Pruner(t, kept), mark: []metav1.ManagedFieldsEntry{{Manager: v1alpha1.JobController}}, before: before, history: of.history}
	if t == cel.Load().Job {
		kept.AddAll(ofLargeJobs)
		k.large = cel.Load().Pruner(t, kept)
	}
	return k
}

// withoutRules is the set of fields kept of a pod on which no rule is evaluated.
var withoutRules = sync.OnceValue(func() *keeping { return newKeeping(&keeper{typ: cel.Load().Pod, own: ofPods}, cel.Fields{}, nil) })

// ofNoInterest prunes the fields of another controller's Job that only rules may read.
var ofNoInterest = sync.OnceValue(func() *cel.Pruner { return cel.Load().Pruner(cel.Load().Job, ofJobs) })

// trimmed reports whether an object has been trimmed before.
func (k *keeping) trimmed(o metav1.Object) bool {
	fields := o.GetManagedFields()
	if Excessive(o) || withoutRules().marks(o) {
		return true
	}
	for ; k != nil && len(fields) > 0; k = k.before {
		if &fields[0] == &k.mark[0] { // compare pointers, because any client can use the manager's name
			return true
		}
	}
	return false
}

// marks reports whether an object was trimmed to exactly this set of fields.
func (k *keeping) marks(o metav1.Object) bool {
	fields := o.GetManagedFields()
	return len(fields) > 0 && &fields[0] == &k.mark[0]
}

// keeper holds and extends the set of fields that one cache keeps.
type keeper struct {
	relister

	keeping atomic.Pointer[keeping]
	typ     *cel.Type
	own     cel.Fields
	history bool // own includes the fields written to the history
}

// keep adds fields to the set that the cache keeps. It removes none, because a failed pod is evaluated by the rules that were in effect
// when it failed. Until the objects have been listed again, lacks reports which of them still lack the fields.
func (k *keeper) keep(fields cel.Fields) {
	now := k.keeping.Load()
	if now.rules.Covers(fields) {
		return
	}
	rules := cel.Fields{}
	rules.AddAll(now.rules)
	rules.AddAll(fields)
	k.keeping.Store(newKeeping(k, rules, now))
	k.relist()
}

// lacks reports whether an object was trimmed of a field that some rule reads, so that rules must not be evaluated on it yet. A caller that
// has already loaded its set of rules is not affected by rules that take effect later.
func (k *keeper) lacks(o metav1.Object) bool {
	return len(o.GetManagedFields()) > 0 && !k.keeping.Load().marks(o)
}

// caching holds the sets of fields that the caches keep.
type caching struct {
	// observe reports whether rules may read the Jobs of other controllers.
	observe           bool
	texts             texts
	jobs, pods, nodes keeper
	// phases holds the pod phases covered by rules in effect.
	phases atomic.Pointer[[]corev1.PodPhase]
}

// newCaching returns sets without fields for custom rules.
func newCaching(observe bool) *caching {
	c := &caching{observe: observe}
	c.jobs.typ, c.jobs.own = cel.Load().Job, ofJobs
	c.pods.typ, c.pods.own = cel.Load().Pod, ofPods
	c.nodes.typ, c.nodes.own = cel.Load().Node, ofNodes
	for _, k := range []*keeper{&c.jobs, &c.pods, &c.nodes} {
		k.keeping.Store(newKeeping(k, cel.Fields{}, nil))
	}
	return c
}

// keepHistory adds the fields written to the history to the controller's own fields. It must be called first.
func (c *caching) keepHistory() {
	for _, k := range []*keeper{&c.jobs, &c.pods} {
		own := cel.NewFields("ObjectMeta.annotations", "JobSpec.template", "PodTemplateSpec.spec")
		own.AddAll(k.own)
		own.AddAll(history.PodFields)
		k.own, k.history = own, true
		k.keeping.Store(newKeeping(k, cel.Fields{}, nil))
	}
}

// keep adds the fields that custom rules read. Running pods are listed again when the first rule on phase Running is added and when the
// last one is removed, because only such rules need many fields of running pods.
func (c *caching) keep(reads custom.Reads, phases ...corev1.PodPhase) {
	before := c.rulesOn(corev1.PodRunning)
	c.phases.Store(&phases)
	c.jobs.keep(reads.Job)
	c.pods.keep(reads.Pod)
	c.nodes.keep(reads.Node)
	if c.rulesOn(corev1.PodRunning) != before {
		c.pods.relist()
	}
}

// rulesOn reports whether a rule in effect applies to a phase.
func (c *caching) rulesOn(phase corev1.PodPhase) bool {
	phases := c.phases.Load()
	return phases != nil && slices.Contains(*phases, phase)
}

// lacksPod is like lacks, but handles pods on which no rule was to be evaluated.
func (c *caching) lacksPod(pod *corev1.Pod) bool {
	if withoutRules().marks(pod) {
		return c.judgeable(pod)
	}
	return c.pods.lacks(pod)
}

// Snapshot returns the Snapshot of a Job and one of its pods with its attempt number, without the marks of the caches.
func Snapshot(job *batchv1.Job, rules snapshot.Rules, now time.Time, pod snapshot.Pod) *snapshot.Snapshot {
	if len(pod.Object.ManagedFields) > 0 {
		unmarked := *pod.Object
		unmarked.ManagedFields = nil
		pod.Object = &unmarked
	}
	pod.Attempt = max(pod.Attempt, 1)
	return snapshot.New(Unmarked(job), rules, now, snapshot.Missing{}, pod)
}

// Unmarked returns the Job without the mark of the caches, for evaluating rules.
func Unmarked(job *batchv1.Job) *batchv1.Job {
	if len(job.ManagedFields) == 0 {
		return job
	}
	unmarked := *job
	unmarked.ManagedFields = nil
	return &unmarked
}

// ErrNotKnownYet is wrapped by errors that disappear once the caches have listed the fields read by a new rule.
var ErrNotKnownYet = errors.New("not known yet")

// LacksError returns the error for an object on which rules must not be evaluated.
func LacksError(o metav1.Object) error {
	if Excessive(o) {
		return fmt.Errorf("%s/%s has more than %d labels and annotations: rules are not asked about it", o.GetNamespace(), o.GetName(), MaxPairs)
	}
	return fmt.Errorf("what rules read of %s/%s is %w", o.GetNamespace(), o.GetName(), ErrNotKnownYet)
}
