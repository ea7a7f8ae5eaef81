package caches

import (
	"context"
	"errors"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/controller/plan"
)

// Caches hold Jobs, pods of Jobs, and nodes if rules read them, as last reported by the API server.
type Caches struct {
	// Jobs and Pods are indexed by namespace and name.
	Jobs, Pods cache.Indexer

	jobs, pods cache.SharedIndexInformer
	nodes      *nodes
	kept       *caching
}

// New returns caches that are empty until Start. They cover one namespace, or all if it is empty. With observe, they also keep
// the fields of other controllers' Jobs that rules read.
func New(client kubernetes.Interface, namespace string, observe bool) (*Caches, error) {
	c := &Caches{kept: newCaching(observe)}
	var jobErr, podErr, nodeErr error
	c.jobs, jobErr = newJobInformer(client, namespace, c.kept)
	c.pods, podErr = newPodInformer(client, namespace, c.kept)
	c.nodes, nodeErr = newNodes(client, c.kept)
	c.Jobs, c.Pods = c.jobs.GetIndexer(), c.pods.GetIndexer()
	return c, errors.Join(jobErr, podErr, nodeErr)
}

// KeepHistory makes the caches also keep the fields of failed pods and of Jobs that are written to the history. It must be
// called before Start.
func (c *Caches) KeepHistory() { c.kept.keepHistory() }

// Start fills the caches, which then follow the API server until ctx is done. It returns false if ctx is done before they are
// filled.
func (c *Caches) Start(ctx context.Context, running *sync.WaitGroup) (filled bool) {
	running.Go(func() { c.jobs.RunWithContext(ctx) })
	running.Go(func() { c.pods.RunWithContext(ctx) })
	running.Go(func() { c.nodes.run(ctx) })
	synced := func() bool { return !c.nodes.isWanted() || c.nodes.HasSynced() }
	return cache.WaitForCacheSync(ctx.Done(), c.jobs.HasSynced, c.pods.HasSynced, synced)
}

// Filled reports whether the caches have been filled once.
func (c *Caches) Filled() bool { return c.jobs.HasSynced() && c.pods.HasSynced() }

// Subscribe registers functions that are called with the state of a Job or pod before and after each change. A nil state means
// that the object does not exist. The two states have the same name, but different UIDs if the object was deleted and recreated
// while the watch was down.
func (c *Caches) Subscribe(job func(before, after *batchv1.Job), pod func(before, after *corev1.Pod)) error {
	_, jobErr := c.jobs.AddEventHandler(handlerOf(job))
	_, podErr := c.pods.AddEventHandler(handlerOf(pod))
	return errors.Join(jobErr, podErr)
}

func handlerOf[T *batchv1.Job | *corev1.Pod | *corev1.Node](changed func(before, after T)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { changed(nil, last[T](object)) },
		UpdateFunc: func(old, object any) { changed(last[T](old), last[T](object)) },
		DeleteFunc: func(object any) { changed(last[T](object), nil) },
	}
}

// last returns the object, unwraps the last known state of one whose deletion the watch missed, or returns nil for
// anything else.
func last[T *batchv1.Job | *corev1.Pod | *corev1.Node](object any) T {
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	known, _ := object.(T)
	return known
}

// Keep makes the caches keep the fields read by the custom rules in effect, in addition to the fields kept already. The rules
// apply to the given phases.
func (c *Caches) Keep(reads custom.Reads, phases ...corev1.PodPhase) {
	c.kept.keep(reads, phases...)
	if len(reads.Node) > 0 {
		c.nodes.want()
	}
}

// RulesOn reports whether a rule in effect for any Job applies to the pod phase.
func (c *Caches) RulesOn(phase corev1.PodPhase) bool { return c.kept.rulesOn(phase) }

// RulesReadStatus reports whether any rule that is or was in effect reads the status of Jobs.
func (c *Caches) RulesReadStatus() bool {
	return c.kept.jobs.keeping.Load().rules.Reaches("Job.status")
}

// LacksJob reports whether the cached Job lacks a field that some rule reads, so that rules must not be evaluated on it yet.
func (c *Caches) LacksJob(job *batchv1.Job) bool { return c.kept.jobs.lacks(job) }

// LacksPod is like LacksJob, for a pod and its node.
func (c *Caches) LacksPod(pod *corev1.Pod) bool { return c.kept.lacksPod(pod) || c.nodes.lacks(pod) }

// TrimJob removes the fields that the caches do not keep from a Job returned by a write.
func (c *Caches) TrimJob(job *batchv1.Job) { c.kept.trimJob(job) }

// JobOf returns the Job that controls the pod, or nil.
func (c *Caches) JobOf(pod *corev1.Pod) *batchv1.Job {
	owner, ok := plan.OwnerOf(pod)
	if !ok {
		return nil
	}
	object, _, _ := c.Jobs.GetByKey(owner.NamespacedName.String()) // an indexer returns no errors
	job, ok := object.(*batchv1.Job)
	if !ok || job.UID != owner.UID {
		return nil
	}
	return job
}

// PodsOf returns the pods controlled by the Job.
func (c *Caches) PodsOf(owner plan.Owner) []*corev1.Pod {
	objects, _ := c.Pods.ByIndex(byJob, owner.String()) // the index exists
	return podsIn(objects)
}

// AllPods returns all pods.
func (c *Caches) AllPods() []*corev1.Pod { return podsIn(c.Pods.List()) }

// Pod returns the pod with the given name, or nil.
func (c *Caches) Pod(name types.NamespacedName) *corev1.Pod {
	object, _, _ := c.Pods.GetByKey(name.String()) // an indexer returns no errors
	pod, _ := object.(*corev1.Pod)
	return pod
}

func podsIn(objects []any) []*corev1.Pod {
	pods := make([]*corev1.Pod, 0, len(objects))
	for _, object := range objects {
		if pod, ok := object.(*corev1.Pod); ok {
			pods = append(pods, pod)
		}
	}
	return pods
}

// byJob is the name of the index of pods by their controlling Job.
const byJob = "job"

var podIndexers = cache.Indexers{byJob: func(object any) ([]string, error) {
	if pod, ok := object.(*corev1.Pod); ok {
		if owner, ok := plan.OwnerOf(pod); ok {
			return []string{owner.String()}, nil
		}
	}
	return nil, nil
}}
