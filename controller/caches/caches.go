package caches

import (
	"context"
	"errors"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
)

// Caches are the Jobs and the pods of Jobs that the API server has shown.
type Caches struct {
	// Jobs and Pods are by namespace and name.
	Jobs, Pods cache.Indexer

	jobs, pods cache.SharedIndexInformer
	kept       *caching
}

// New returns caches that are empty until they are started. They are of one namespace, or of all when it is empty. Observe
// is true when Jobs that others run are of interest.
func New(client kubernetes.Interface, namespace string, observe bool) (*Caches, error) {
	c := &Caches{kept: newCaching(observe)}
	var jobErr, podErr error
	c.jobs, jobErr = newJobInformer(client, namespace, c.kept)
	c.pods, podErr = newPodInformer(client, namespace, c.kept)
	c.Jobs, c.Pods = c.jobs.GetIndexer(), c.pods.GetIndexer()
	return c, errors.Join(jobErr, podErr)
}

// Start fills the caches, which follow the API server until ctx is done. It returns false when that was before they were filled.
func (c *Caches) Start(ctx context.Context, running *sync.WaitGroup) (filled bool) {
	running.Go(func() { c.jobs.RunWithContext(ctx) })
	running.Go(func() { c.pods.RunWithContext(ctx) })
	return cache.WaitForCacheSync(ctx.Done(), c.jobs.HasSynced, c.pods.HasSynced)
}

// Filled reports whether the caches have been filled.
func (c *Caches) Filled() bool { return c.jobs.HasSynced() && c.pods.HasSynced() }

// Subscribe has the functions called with the states of a Job or pod before and after each change, nil when there is none. Both
// are of one name, and of two objects when nobody watched while one was deleted and the other created.
func (c *Caches) Subscribe(job func(before, after *batchv1.Job), pod func(before, after *corev1.Pod)) error {
	_, jobErr := c.jobs.AddEventHandler(handlerOf(job))
	_, podErr := c.pods.AddEventHandler(handlerOf(pod))
	return errors.Join(jobErr, podErr)
}

func handlerOf[T *batchv1.Job | *corev1.Pod](changed func(before, after T)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { changed(nil, last[T](object)) },
		UpdateFunc: func(old, object any) { changed(last[T](old), last[T](object)) },
		DeleteFunc: func(object any) { changed(last[T](object), nil) },
	}
}

// last returns the object, or the last known state of one that was deleted while nobody watched; nil if it is neither.
func last[T *batchv1.Job | *corev1.Pod](object any) T {
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	known, _ := object.(T)
	return known
}

// Keep has the caches soon keep what custom rules read, besides what they keep already.
func (c *Caches) Keep(reads custom.Reads) { c.kept.keep(reads) }

// LacksJob reports whether rules must not be asked about the Job yet, because something is missing that some of them read.
func (c *Caches) LacksJob(job *batchv1.Job) bool { return c.kept.jobs.lacks(job) }

// LacksPod does what LacksJob does, for a pod.
func (c *Caches) LacksPod(pod *corev1.Pod) bool { return c.kept.pods.lacks(pod) }

// TrimJob drops from a Job that a write returned what the caches do not keep.
func (c *Caches) TrimJob(job *batchv1.Job) { c.kept.trimJob(job) }

// JobOf returns the Job that controls the pod, or nil.
func (c *Caches) JobOf(pod *corev1.Pod) *batchv1.Job {
	owner, ok := plan.OwnerOf(pod)
	if !ok {
		return nil
	}
	object, _, _ := c.Jobs.GetByKey(owner.NamespacedName.String()) // an indexer has no errors
	job, ok := object.(*batchv1.Job)
	if !ok || job.UID != owner.UID {
		return nil
	}
	return job
}

// PodsOf returns the pods that a Job controls.
func (c *Caches) PodsOf(owner plan.Owner) []*corev1.Pod { return c.indexed(byJob, owner.String()) }

// Starting returns the pods of Jobs that wait to start, and those that have started and are still marked as ones that do not.
func (c *Caches) Starting() []*corev1.Pod { return c.indexed(byStart, byStart) }

func (c *Caches) indexed(index, value string) []*corev1.Pod {
	objects, _ := c.Pods.ByIndex(index, value) // the index is there
	pods := make([]*corev1.Pod, 0, len(objects))
	for _, object := range objects {
		if pod, ok := object.(*corev1.Pod); ok {
			pods = append(pods, pod)
		}
	}
	return pods
}

// The indexes of pods: by the Job that controls them, and of those that starting returns, which all have one value.
const byJob, byStart = "job", "start"

var podIndexers = cache.Indexers{byStart: indexStart, byJob: func(object any) ([]string, error) {
	if pod, ok := object.(*corev1.Pod); ok {
		if owner, ok := plan.OwnerOf(pod); ok {
			return []string{owner.String()}, nil
		}
	}
	return nil, nil
}}

func indexStart(object any) ([]string, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok || pod.DeletionTimestamp != nil {
		return nil, nil
	}
	if _, ok := plan.OwnerOf(pod); !ok {
		return nil, nil
	}
	started := pod.Status.Phase == corev1.PodRunning && runtime.FailingToStart(pod) != nil
	if pod.Status.Phase == corev1.PodPending || started {
		return []string{byStart}, nil
	}
	return nil, nil
}
