package controller

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// newJobInformer watches all Jobs: the API has no selector for managedBy.
func newJobInformer(client kubernetes.Interface, namespace string, caching *caching) (cache.SharedIndexInformer, error) {
	jobs := client.BatchV1().Jobs(namespace)
	informer := cache.NewSharedIndexInformerWithOptions(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			caching.jobs.lists(o)
			list, err := jobs.List(ctx, newest(o))
			if err != nil {
				return nil, err
			}
			for i := range list.Items { // before the next page comes
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

// newPodInformer watches the pods of Jobs. The API server gives their templates the label; plan.Next gives it to the pods of
// Jobs with manualSelector, whose templates lack it.
func newPodInformer(client kubernetes.Interface, namespace string, caching *caching) (cache.SharedIndexInformer, error) {
	pods := client.CoreV1().Pods(namespace)
	informer := cache.NewSharedIndexInformerWithOptions(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.LabelSelector = batchv1.ControllerUidLabel
			caching.pods.lists(o)
			list, err := pods.List(ctx, newest(o))
			if err != nil {
				return nil, err
			}
			for i := range list.Items { // before the next page comes
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

// newest has a first list ask for the newest state. Reflectors ask for any, by resource version 0, which may be older than
// what the last leader saw; their streamed first lists, and all later ones, do not go back.
func newest(o metav1.ListOptions) metav1.ListOptions {
	if o.ResourceVersion == "0" {
		o.ResourceVersion = ""
	}
	return o
}
