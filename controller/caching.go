package controller

import (
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
)

// caching is what the caches of Jobs and pods keep of them.
type caching struct {
	// observe is true when Jobs that others run are of interest.
	observe    bool
	texts      texts
	jobs, pods keeper
}

// transform is for both informers.
func (c *caching) transform(object any) (any, error) {
	switch o := object.(type) {
	case *batchv1.Job:
		c.trimJob(o)
	case *corev1.Pod:
		c.trimPod(o)
	}
	return object, nil
}

// relister has an informer list all objects anew.
type relister struct {
	mu      sync.Mutex
	current watch.Interface // the watch that was begun last, or nil
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

// lists is to be called before a list, with its options.
func (r *relister) lists(o metav1.ListOptions) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o.Continue == "" {
		r.wanted = false
	}
}

// watch begins a watch, unless a list is wanted. An error that there are no older versions any more leads to one.
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

// texts are strings that many pods have, each of which is kept once.
type texts struct {
	mu    sync.Mutex
	known map[string]string
}

const (
	// maxTexts is how many strings are known at a time, and maxText how long they may be: these take at most some 10 MB.
	maxTexts = 50_000
	maxText  = 128
)

// share has a pod use the strings of others.
func (t *texts) share(pod *corev1.Pod) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one(t, &pod.Namespace)
	one(t, &pod.Spec.NodeName)
	one(t, &pod.Spec.RestartPolicy)
	one(t, &pod.Status.Phase)
	one(t, &pod.Status.Reason)
	pod.Labels, pod.Annotations = t.pairs(pod.Labels), t.pairs(pod.Annotations)
	for i := range pod.Finalizers {
		one(t, &pod.Finalizers[i])
	}
	for i := range pod.OwnerReferences {
		o := &pod.OwnerReferences[i]
		one(t, &o.APIVersion)
		one(t, &o.Kind)
		one(t, &o.Name)
		one(t, &o.UID)
	}
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		one(t, &c.Type)
		one(t, &c.Status)
	}
	t.containers(pod.Status.InitContainerStatuses)
	t.containers(pod.Status.ContainerStatuses)
}

func (t *texts) containers(all []corev1.ContainerStatus) {
	for i := range all {
		c := &all[i]
		one(t, &c.Name)
		if c.State.Terminated != nil {
			one(t, &c.State.Terminated.Reason)
		}
		if c.State.Waiting != nil {
			one(t, &c.State.Waiting.Reason)
		}
	}
}

// pairs is a copy with no room for more.
func (t *texts) pairs(all map[string]string) map[string]string {
	if len(all) == 0 {
		return nil
	}
	shared := make(map[string]string, len(all))
	for key, value := range all {
		one(t, &key)
		one(t, &value)
		shared[key] = value
	}
	return shared
}

// one replaces a text by the equal one that is known.
func one[T ~string](t *texts, text *T) {
	if len(*text) == 0 || len(*text) > maxText {
		return
	}
	known, found := t.known[string(*text)]
	if !found {
		if len(t.known) >= maxTexts || t.known == nil {
			t.known = map[string]string{}
		}
		known = string(*text)
		t.known[known] = known
	}
	*text = T(known)
}
