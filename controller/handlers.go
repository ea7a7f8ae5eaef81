package controller

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podverdict/podverdict/controller/plan"
)

// handle has changes in the caches lead to work.
func (c *Controller) handle() error {
	c.policies.subscribe(c.policiesChanged)
	_, jobErr := c.jobs.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { c.guard(func() { c.jobChanged(object) }) },
		UpdateFunc: func(old, object any) { c.guard(func() { c.jobReplaced(old, object) }) },
		DeleteFunc: func(object any) { c.guard(func() { c.jobGone(object) }) },
	})
	_, podErr := c.pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { c.guard(func() { c.podChanged(nil, object) }) },
		UpdateFunc: func(old, object any) { c.guard(func() { c.podChanged(old, object) }) },
		DeleteFunc: func(object any) { c.guard(func() { c.podChanged(object, nil) }) },
	})
	return errors.Join(jobErr, podErr)
}

// guard keeps a panic over one object from those that come after it.
func (c *Controller) guard(handle func()) {
	_ = c.options.Metrics.guard(context.Background(), readingCache, func() error { // it is in the log
		handle()
		return nil
	})
}

// policiesChanged has the managed Jobs of a namespace, or of all, looked at.
func (c *Controller) policiesChanged(namespace string) {
	for _, object := range c.jobs.GetIndexer().List() {
		if job := last[*batchv1.Job](object); job != nil && (namespace == "" || job.Namespace == namespace) && lastCondition(job) == nil {
			c.jobChanged(job)
		}
	}
}

func (c *Controller) jobChanged(object any) {
	job := last[*batchv1.Job](object)
	if job == nil {
		return
	}
	if managed(job) {
		c.enqueue(types.NamespacedName{Namespace: job.Namespace, Name: job.Name})
	}
}

// jobReplaced is given two states under one name. They are of two Jobs when nobody watched while one was deleted and the
// other created.
func (c *Controller) jobReplaced(old, object any) {
	if before, job := last[*batchv1.Job](old), last[*batchv1.Job](object); before != nil && job != nil && before.UID != job.UID {
		c.jobGone(before)
	}
	c.jobChanged(object)
}

// jobGone has the Job forgotten, and looks at what it leaves.
func (c *Controller) jobGone(object any) {
	job := last[*batchv1.Job](object)
	if job == nil {
		return
	}
	c.policies.selections.forget(job.UID)
	c.observer.attempts.forget(job.UID)
	if !managed(job) {
		return
	}
	c.enqueue(types.NamespacedName{Namespace: job.Namespace, Name: job.Name})
	for _, pod := range podsOf(c.pods.GetIndexer(), plan.OwnerFor(job)) {
		c.enqueueOrphan(pod)
	}
}

// podChanged is given the states before and after, nil when there is none.
func (c *Controller) podChanged(before, after any) {
	old, pod := last[*corev1.Pod](before), last[*corev1.Pod](after)
	c.options.Metrics.podSeen(old, pod)
	for _, p := range []*corev1.Pod{old, pod} {
		if p == nil {
			continue
		}
		if job := cachedJob(c.jobs.GetIndexer(), p); job != nil && managed(job) {
			c.enqueue(types.NamespacedName{Namespace: job.Namespace, Name: job.Name})
		}
	}
	switch {
	case pod != nil:
		c.freed.changed(cache.MetaObjectToName(pod).AsNamespacedName(), pod)
		c.enqueueOrphan(pod)
		c.observer.enqueue(pod)
	case old != nil:
		c.freed.changed(cache.MetaObjectToName(old).AsNamespacedName(), nil)
		c.observer.forget(old)
	}
}

// enqueue has the Job looked at soon. The more it takes to look at it, the more events are waited for. What failed is not
// tried again more often than once a batch period, however many events there are.
func (c *Controller) enqueue(key types.NamespacedName) {
	if c.options.ObserveOnly {
		return
	}
	wait := c.reconciler.recollections.coalescence(key)
	if c.jobQueue.NumRequeues(key) > 0 {
		wait = max(wait, c.options.BatchPeriod)
	}
	c.jobQueue.AddAfter(key, wait)
}

func (c *Controller) enqueueOrphan(pod *corev1.Pod) {
	if !c.options.ObserveOnly && c.orphanage.orphaned(pod) {
		c.orphanQueue.Add(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
	}
}

// last is the object, or the last known state of one that was deleted while nobody watched; nil if it is neither.
func last[T *batchv1.Job | *corev1.Pod](object any) T {
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	known, _ := object.(T)
	return known
}
