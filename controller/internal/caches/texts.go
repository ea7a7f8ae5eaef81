package caches

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// texts interns strings that many pods have in common.
type texts struct {
	mu    sync.Mutex
	known map[string]string
}

const (
	// maxTexts is the number of strings interned at a time, and maxText their maximum length. This limits the memory
	// to about 10 MB.
	maxTexts = 50_000
	maxText  = 128
)

// share replaces the strings of a pod with equal interned strings.
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
	for _, all := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range all {
			one(t, &all[i].Name)
			one(t, &all[i].Image)
		}
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

// pairs returns a copy of a map without spare capacity.
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

// one replaces a string with the equal interned string.
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
