package policies

import (
	"maps"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller/plan"
)

// countPeriod is the interval for counting the Jobs that bindings select.
const countPeriod = time.Minute

// counts holds the numbers of Jobs for the statuses of bindings.
type counts struct {
	// wanted is true if the controller sees all Jobs. A controller that sees only some of them would overwrite the
	// total.
	wanted bool
	// byBinding holds the numbers by binding name. It is nil before the first count.
	byBinding atomic.Pointer[map[string]v1alpha1.BoundJobs]
}

// of returns the numbers for a binding, or nil if they are unknown.
func (c *counts) of(name string) *v1alpha1.BoundJobs {
	known := c.byBinding.Load()
	if known == nil {
		return nil
	}
	if numbers, found := (*known)[name]; found {
		return &numbers
	}
	return nil
}

// count counts the Jobs that bindings select, and queues the statuses that have changed.
func (r *Registry) count() {
	if !r.counts.wanted || !r.caches.Filled() {
		return
	}
	next := r.set.Load().Count(r.unfinished)
	before := r.counts.byBinding.Swap(&next)
	if before != nil && maps.Equal(*before, next) {
		return
	}
	for _, b := range cached[*v1alpha1.PodFailurePolicyBinding](r.bindings) {
		r.statuses.add(b)
	}
}

// unfinished yields the unfinished Jobs with the labels of their namespaces.
func (r *Registry) unfinished(yield func(*batchv1.Job, labels.Set) bool) {
	for _, object := range r.caches.Jobs.List() {
		job, ok := object.(*batchv1.Job)
		if !ok || plan.Finished(job) {
			continue
		}
		namespace, _, err := r.labelsOf(job.Namespace)
		if err == nil && !yield(job, namespace) {
			return
		}
	}
}
