package running

import (
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/controller/plan"
)

// orphans releases pods whose Job is gone, or that no longer belong to their Job. They are not counted, and their finalizer
// would remain where kube-controller-manager runs no Jobs.
type orphans struct {
	client kubernetes.Interface
	caches *caches.Caches
	queue  keyQueue // queue of pods
}

// enqueue queues a pod if it looks like an orphan.
func (o *orphans) enqueue(pod *corev1.Pod) {
	if o.orphaned(pod) {
		o.queue.Add(cache.MetaObjectToName(pod).AsNamespacedName())
	}
}

// orphaned reports whether a pod made by this controller looks like an orphan.
func (o *orphans) orphaned(pod *corev1.Pod) bool {
	if !slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) || !plan.Made(pod) {
		return false
	}
	return o.caches.JobOf(pod) == nil
}

// sync releases the pod if it is an orphan. It queries the API server, because the cache may lack a new Job.
func (o *orphans) sync(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	object, found, err := o.caches.Pods.GetByKey(key.String())
	pod, ok := object.(*corev1.Pod)
	if err != nil || !found || !ok || !o.orphaned(pod) {
		return 0, err
	}
	if owner, ok := plan.OwnerOf(pod); ok {
		job, err := o.client.BatchV1().Jobs(pod.Namespace).Get(ctx, owner.Name, metav1.GetOptions{})
		switch {
		case err == nil && job.UID == owner.UID:
			return 0, nil // the worker of its Job handles it
		case err != nil && !apierrors.IsNotFound(err):
			return 0, fmt.Errorf("get the job of pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	_, err = removeFinalizer(ctx, o.client, pod)
	if err != nil && !apierrors.IsNotFound(err) {
		return 0, err // retry even if the pod has changed: it is still an orphan
	}
	return 0, nil
}
