package running

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podverdict/podverdict/controller/internal/caches"
)

// freedPods removes the finalizers of ended pods on which nothing depends, when no other calls are needed. Thus they do not
// block the deletion of their Job or namespace while no controller runs, and delay no other call.
type freedPods struct {
	client kubernetes.Interface // for low-priority calls
	caches *caches.Caches
	queue  keyQueue

	mu sync.Mutex
	// pods are the freed pods in the cached version, until the caches have another version.
	pods map[types.NamespacedName]*corev1.Pod
}

// add queues freed pods. A Plan may free a pod repeatedly, until the caches have received the version without the finalizer,
// and even later if the Plan was made from an older state.
func (f *freedPods) add(pods []*corev1.Pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, pod := range pods {
		key := cache.MetaObjectToName(pod).AsNamespacedName()
		if known := f.pods[key]; (known == nil || known.ResourceVersion != pod.ResourceVersion) && f.current(key, pod) {
			f.pods[key] = pod
			f.queue.Add(key)
		}
	}
}

// current reports whether the caches have this version of the pod.
func (f *freedPods) current(key types.NamespacedName, pod *corev1.Pod) bool {
	object, _, _ := f.caches.Pods.GetByKey(key.String()) // an indexer returns no errors
	shown, ok := object.(*corev1.Pod)
	return ok && shown.ResourceVersion == pod.ResourceVersion
}

// changed forgets a freed pod unless the caches still have the same version. Now is nil if the pod is gone.
func (f *freedPods) changed(key types.NamespacedName, now *corev1.Pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known := f.pods[key]; known != nil && (now == nil || now.ResourceVersion != known.ResourceVersion) {
		delete(f.pods, key)
	}
}

// sync removes the finalizer if the pod has not changed since it was freed.
func (f *freedPods) sync(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	f.mu.Lock()
	pod := f.pods[key]
	f.mu.Unlock()
	if pod == nil {
		return 0, nil
	}
	_, err := removeFinalizer(ctx, f.client, pod)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return 0, err
	}
	return 0, nil
}
