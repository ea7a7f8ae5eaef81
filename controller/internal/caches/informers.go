package caches

import (
	"context"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

// newJobInformer watches all Jobs, because the API has no field selector for managedBy.
func newJobInformer(client kubernetes.Interface, namespace string, caching *caching) (cache.SharedIndexInformer, error) {
	jobs := client.BatchV1().Jobs(namespace)
	informer := cache.NewSharedIndexInformerWithOptions(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			caching.jobs.lists(o)
			list, err := jobs.List(ctx, Newest(o))
			if err != nil {
				return nil, err
			}
			for i := range list.Items { // trim each page before the next one arrives
				caching.trimJob(&list.Items[i])
			}
			return list, nil
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return caching.jobs.watch(o, func() (watch.Interface, error) { return jobs.Watch(ctx, o) })
		},
	}, client), &batchv1.Job{}, cache.SharedIndexInformerOptions{ObjectDescription: "jobs"})
	return informer, informer.SetTransform(caching.transform)
}

// newPodInformer watches the pods with the label of Jobs. The API server adds the label to pod templates, and plan.Next
// adds it to the pods of Jobs with manualSelector, whose templates lack it.
func newPodInformer(client kubernetes.Interface, namespace string, caching *caching) (cache.SharedIndexInformer, error) {
	pods := client.CoreV1().Pods(namespace)
	informer := cache.NewSharedIndexInformerWithOptions(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.LabelSelector = batchv1.ControllerUidLabel
			caching.pods.lists(o)
			list, err := pods.List(ctx, Newest(o))
			if err != nil {
				return nil, err
			}
			for i := range list.Items { // trim each page before the next one arrives
				caching.trimPod(&list.Items[i])
			}
			return list, nil
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.LabelSelector = batchv1.ControllerUidLabel
			return caching.pods.watch(o, func() (watch.Interface, error) { return pods.Watch(ctx, o) })
		},
	}, client), &corev1.Pod{}, cache.SharedIndexInformerOptions{ObjectDescription: "pods of jobs", Indexers: podIndexers})
	return informer, informer.SetTransform(caching.transform)
}

// Newest changes the options of an initial list to request the newest state. Reflectors request resource version 0, which
// may be older than the state seen by the previous leader. Streamed initial lists and all later lists do not go back in
// time.
func Newest(o metav1.ListOptions) metav1.ListOptions {
	if o.ResourceVersion == "0" {
		o.ResourceVersion = ""
	}
	return o
}

// relister makes an informer list all objects again.
type relister struct {
	mu      sync.Mutex
	current watch.Interface // the latest watch, or nil
	wanted  bool
}

func (r *relister) relist() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wanted = true
	if r.current != nil {
		r.current.Stop()
	}
}

// lists must be called before each list, with its options.
func (r *relister) lists(o metav1.ListOptions) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o.Continue == "" {
		r.wanted = false
	}
}

// watch begins a watch. If a new list is wanted, it returns the error for an expired resource version instead, which
// makes the reflector list.
func (r *relister) watch(o metav1.ListOptions, begin func() (watch.Interface, error)) (watch.Interface, error) {
	if ptr.Deref(o.SendInitialEvents, false) {
		r.lists(o)
	}
	w, err := begin()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && r.wanted {
		w.Stop()
		return nil, apierrors.NewResourceExpired("more of the objects is wanted")
	}
	r.current = w
	return w, err
}
