package caches

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/compiler/schema"
	"github.com/podverdict/podverdict/runtime"
)

// keeping is what a cache keeps of each object from some time on: what the controller reads, and what custom rules do.
type keeping struct {
	rules  schema.Fields
	pruner *schema.Pruner
	// large is for managed Jobs with a large template.
	large *schema.Pruner
	// mark is metadata.managedFields of the objects that were trimmed to this and that rules may be asked about, so that the
	// caches know what each of them lacks. Nobody reads the field for what it says.
	mark []metav1.ManagedFieldsEntry
	// before is what was kept before, or nil.
	before *keeping
}

func newKeeping(t *schema.Type, own, rules schema.Fields, before *keeping) *keeping {
	kept := schema.Fields{}
	kept.AddAll(own)
	kept.AddAll(rules)
	k := &keeping{rules: rules, pruner: schema.Load().Pruner(t, kept), mark: []metav1.ManagedFieldsEntry{{Manager: v1alpha1.JobController}}, before: before}
	if t == schema.Load().Job {
		kept.AddAll(ofLargeJobs)
		k.large = schema.Load().Pruner(t, kept)
	}
	return k
}

// withoutRules is what is kept of a pod that no rule is asked about.
var withoutRules = sync.OnceValue(func() *keeping { return newKeeping(schema.Load().Pod, ofPods, schema.Fields{}, nil) })

// ofNoInterest drops from a Job of others all that rules alone may read.
var ofNoInterest = sync.OnceValue(func() *schema.Pruner { return schema.Load().Pruner(schema.Load().Job, ofJobs) })

// trimmed reports whether an object comes to be trimmed a second time.
func (k *keeping) trimmed(o metav1.Object) bool {
	fields := o.GetManagedFields()
	if Excessive(o) {
		return true
	}
	for ; k != nil && len(fields) > 0; k = k.before {
		if &fields[0] == &k.mark[0] { // anybody can call himself by our name
			return true
		}
	}
	return false
}

// keeper has one cache keep what rules read.
type keeper struct {
	relister

	keeping atomic.Pointer[keeping]
	typ     *schema.Type
	own     schema.Fields
}

// keep has the fields in the cache soon, beside those that are kept already: a failed pod is judged by the rules that were in
// force when it failed, so nothing is dropped that some were to read. Until the cache has them, lacks tells the objects apart.
func (k *keeper) keep(fields schema.Fields) {
	now := k.keeping.Load()
	if now.rules.Covers(fields) {
		return
	}
	rules := schema.Fields{}
	rules.AddAll(now.rules)
	rules.AddAll(fields)
	k.keeping.Store(newKeeping(k.typ, k.own, rules, now))
	k.relist()
}

// lacks reports whether rules must not be asked about an object yet, because it was trimmed of something that some of them read.
// Rules that come into force later do not matter to whoever has taken the set of rules before.
func (k *keeper) lacks(o metav1.Object) bool {
	fields := o.GetManagedFields()
	return len(fields) > 0 && &fields[0] != &k.keeping.Load().mark[0]
}

// caching is what the caches of Jobs and pods keep of them.
type caching struct {
	// observe is true when Jobs that others run are of interest.
	observe    bool
	texts      texts
	jobs, pods keeper
}

// newCaching keeps nothing for custom rules yet.
func newCaching(observe bool) *caching {
	c := &caching{observe: observe}
	c.jobs.typ, c.jobs.own = schema.Load().Job, ofJobs
	c.pods.typ, c.pods.own = schema.Load().Pod, ofPods
	for _, k := range []*keeper{&c.jobs, &c.pods} {
		k.keeping.Store(newKeeping(k.typ, k.own, schema.Fields{}, nil))
	}
	return c
}

// keep has the caches keep what custom rules read.
func (c *caching) keep(reads custom.Reads) {
	c.jobs.keep(reads.Job)
	c.pods.keep(reads.Pod)
}

// Input returns what rules are asked about. They do not see the marks of the caches.
func Input(pod *corev1.Pod, job *batchv1.Job, attempt int64, now time.Time) runtime.Input {
	if len(pod.ManagedFields) > 0 {
		unmarked := *pod
		unmarked.ManagedFields = nil
		pod = &unmarked
	}
	return runtime.Input{Pod: pod, Job: Unmarked(job), Attempt: attempt, Now: now}
}

// Unmarked returns the Job without the mark of the caches, for rules.
func Unmarked(job *batchv1.Job) *batchv1.Job {
	if len(job.ManagedFields) == 0 {
		return job
	}
	unmarked := *job
	unmarked.ManagedFields = nil
	return &unmarked
}

// ErrNotKnownYet is in an error that passes by itself, when the caches have listed what a new rule reads.
var ErrNotKnownYet = errors.New("not known yet")

// LacksError returns the error of what cannot be done because rules must not be asked about an object.
func LacksError(o metav1.Object) error {
	if Excessive(o) {
		return fmt.Errorf("%s/%s has more than %d labels and annotations: rules are not asked about it", o.GetNamespace(), o.GetName(), MaxPairs)
	}
	return fmt.Errorf("what rules read of %s/%s is %w", o.GetNamespace(), o.GetName(), ErrNotKnownYet)
}
