package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// patience is the maximum time without changes while waiting for a milestone.
const patience = 2 * time.Minute

// A sight is the state of Jobs as seen by a client of the API server: a status, and the numbers of finished Jobs, of
// pods, of unfinished pods, and of pods with the tracking finalizer.
type sight struct {
	status                       batchv1.JobStatus // status of the Job that changed last
	over, pods, unfinished, held int
}

// reached reports whether all Jobs have reached the milestone. size is the number of pods that one Job runs at a time.
func (s sight) reached(m milestone, size, jobs int) bool {
	running := int(s.status.Active) == size && s.unfinished == size
	switch m {
	case created:
		return running
	case replaced:
		return running && int(s.status.Failed) == size && s.pods == 2*size
	case ready, streamed:
		return running && s.status.Ready != nil && int(*s.status.Ready) == size && int(s.status.Succeeded+s.status.Failed) == s.pods-s.unfinished
	case finished:
		return s.over == jobs
	default:
		return s.held == 0
	}
}

// finish returns the condition with which the Job has ended.
func (s sight) finish() *batchv1.JobCondition {
	for i, c := range s.status.Conditions {
		if c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed {
			return &s.status.Conditions[i]
		}
	}
	return nil
}

// An observer watches the Jobs of a namespace.
type observer struct {
	lister  corelisters.PodNamespaceLister
	changed chan struct{} // has a value after the state has changed

	mu  sync.Mutex
	now sight
}

// newObserver watches until the context is done, and calls kubelet for each new pod.
func newObserver(ctx context.Context, client kubernetes.Interface, namespace string, kubelet func(*corev1.Pod)) (*observer, error) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	pods, jobs := factory.Core().V1().Pods(), factory.Batch().V1().Jobs()
	o := &observer{lister: pods.Lister().Pods(namespace), changed: make(chan struct{}, 1)}
	if _, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(pod any) { o.count(pod, 1); kubelet(pod.(*corev1.Pod)) }, //nolint:forcetypeassert // of the informer
		UpdateFunc: func(old, pod any) { o.count(old, -1); o.count(pod, 1) },
		DeleteFunc: func(pod any) { o.count(pod, -1) },
	}); err != nil {
		return nil, err
	}
	if _, err := jobs.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(job any) { o.read(sight{}, job.(*batchv1.Job)) },                                       //nolint:forcetypeassert // of the informer
		UpdateFunc: func(old, job any) { o.read(sight{status: old.(*batchv1.Job).Status}, job.(*batchv1.Job)) }, //nolint:forcetypeassert // of the informer
	}); err != nil {
		return nil, err
	}
	factory.StartWithContext(ctx)
	return o, factory.WaitForCacheSyncWithContext(ctx).Err
}

// count adds or subtracts a pod.
func (o *observer) count(object any, number int) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return
	}
	o.change(func(s *sight) {
		s.pods += number
		if !ended(pod) {
			s.unfinished += number
		}
		if slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
			s.held += number
		}
	})
}

func (o *observer) read(old sight, job *batchv1.Job) {
	o.change(func(s *sight) {
		s.status = job.Status
		if old.finish() == nil && s.finish() != nil {
			s.over++
		}
	})
}

func (o *observer) change(what func(*sight)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	what(&o.now)
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

func (o *observer) sight() sight {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.now
}

// await waits until done returns true. It fails if the state does not change any more.
func (o *observer) await(ctx context.Context, done func(sight) (bool, error)) error {
	for {
		seen := o.sight()
		if is, err := done(seen); is || err != nil {
			return err
		}
		select {
		case <-o.changed:
		case <-time.After(patience):
			return fmt.Errorf("nothing changes for %v: %d pods, %d unfinished, %d with the finalizer; status: %d active, %d succeeded, %d failed",
				patience, seen.pods, seen.unfinished, seen.held, seen.status.Active, seen.status.Succeeded, seen.status.Failed)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// unfinished returns the pods that have not ended.
func (o *observer) unfinished() ([]*corev1.Pod, error) {
	pods, err := o.lister.List(labels.Everything())
	return slices.DeleteFunc(pods, ended), err
}

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}
