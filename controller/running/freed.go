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

	"github.com/podverdict/podverdict/controller/caches"
)

// freedPods removes the finalizers of ended pods on which nothing depends any more, when there is nothing better to call for.
// So they do not keep their Job or namespace from being deleted while no controller is at work, and take no call that another
// pod waits for.
type freedPods struct {
	client kubernetes.Interface // its calls can wait
	caches *caches.Caches
	queue  keyQueue

	mu sync.Mutex
	// pods are those that were freed, as the caches showed them, until these show something else.
	pods map[types.NamespacedName]*corev1.Pod
}

// add frees pods. A Plan may free one again and again before the caches show that it has no finalizer, and after that if it was
// made from what they showed before.
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

// current reports whether the caches show the pod in this state.
func (f *freedPods) current(key types.NamespacedName, pod *corev1.Pod) bool {
	object, _, _ := f.caches.Pods.GetByKey(key.String()) // an indexer has no errors
	shown, ok := object.(*corev1.Pod)
	return ok && shown.ResourceVersion == pod.ResourceVersion
}

// changed forgets a pod that was freed in another state than the caches show now. It is nil when the pod is gone.
func (f *freedPods) changed(key types.NamespacedName, now *corev1.Pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known := f.pods[key]; known != nil && (now == nil || now.ResourceVersion != known.ResourceVersion) {
		delete(f.pods, key)
	}
}

// sync removes the finalizer if the pod is as it was when it was freed.
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
