package running

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/util/workqueue"

	"github.com/podverdict/podverdict/controller/internal/recorder"
	"github.com/podverdict/podverdict/controller/metrics"
)

// apply carries out the Plan. It tries every part, even if others fail.
func (w *work) apply(ctx context.Context) error {
	w.reconciler.free(w.plan.Free)
	return errors.Join(
		w.each(ctx, w.plan.Release, w.reconciler.width, w.release),
		w.each(ctx, w.undeleted(w.plan.Dismiss), w.reconciler.width, w.dismiss),
		w.each(ctx, w.undeleted(w.plan.Delete), w.reconciler.width, w.deletePod),
		w.createPods(ctx),
		w.write(ctx),
	)
}

// each makes calls for pods, width of them in parallel, until one fails or a batch period is over. The remaining pods wait for the next
// sync.
func (w *work) each(ctx context.Context, pods []*corev1.Pod, width int, call func(context.Context, *corev1.Pod) error) error {
	if len(pods) == 0 {
		return nil
	}
	w.wait(w.reconciler.BatchPeriod) // in case nothing changes because the caches lag, or calls remain
	batch, stop := context.WithCancel(ctx)
	defer stop()
	start := w.reconciler.Clock.Now()
	failures := make([]error, len(pods))
	workqueue.ParallelizeUntil(batch, width, len(pods), func(i int) {
		failures[i] = w.reconciler.Metrics.Guard(ctx, metrics.WorkingOnJob, func() error { return call(ctx, pods[i]) })
		switch {
		case failures[i] != nil:
			stop()
		case w.reconciler.Clock.Since(start) >= w.reconciler.BatchPeriod:
			w.interrupted.Store(true)
			stop()
		}
	})
	if i := slices.IndexFunc(failures, func(err error) bool { return err != nil }); i >= 0 {
		return failures[i] // the other errors are alike
	}
	return nil
}

// release removes the tracking finalizer of a pod that has not changed.
func (w *work) release(ctx context.Context, pod *corev1.Pod) error {
	_, err := w.released(ctx, pod)
	return err
}

func (w *work) released(ctx context.Context, pod *corev1.Pod) (bool, error) {
	if !slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
		return true, nil
	}
	returned, err := removeFinalizer(ctx, w.reconciler.Client, pod)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return false, nil // the caches will receive the change
	case err != nil:
		return false, err
	}
	w.state.learn(returned)
	w.changed.Store(true)
	return true, nil
}

// dismiss releases a pod, and deletes it if that succeeded. A pod that has changed is read again. If it has ended, it is counted instead.
// If another client has deleted it first, it is released, as upstream does.
func (w *work) dismiss(ctx context.Context, pod *corev1.Pod) error {
	released, err := w.released(ctx, pod)
	if !released && err == nil {
		if pod, err = w.unended(ctx, pod); pod != nil {
			released, err = w.released(ctx, pod)
		}
	}
	if !released || err != nil {
		return err
	}
	return w.deletePod(ctx, pod)
}

// unended reads a pod. It returns nil if the pod is gone or has ended.
func (w *work) unended(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	now, err := w.reconciler.Client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // it is gone
	case err != nil:
		return nil, fmt.Errorf("read pod %s/%s: %w", pod.Namespace, pod.Name, err)
	case now.UID != pod.UID || now.Status.Phase == corev1.PodSucceeded || now.Status.Phase == corev1.PodFailed:
		return nil, nil //nolint:nilnil // it is another pod, or has to be counted
	}
	return now, nil
}

// undeleted returns the pods whose deletion has not been accepted yet. The caches may lag behind the deletions.
func (w *work) undeleted(pods []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool { return w.state.deleted[pod.UID] })
}

func (w *work) deletePod(ctx context.Context, pod *corev1.Pod) error {
	options := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))}
	err := w.reconciler.Client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, options)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return nil // gone, or replaced by another pod of this name
	case err != nil:
		w.warn(recorder.ReasonFailedDelete, "Error deleting: "+err.Error())
		return fmt.Errorf("delete pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	w.state.learnDeleted(pod)
	w.changed.Store(true)
	w.note(reasonSuccessfulDelete, "Deleted pod: "+pod.Name)
	return nil
}

// write writes the status and records the related events.
func (w *work) write(ctx context.Context) error {
	if w.plan.Write == nil {
		return nil
	}
	if wait := w.restPeriod() - w.state.sinceWrite(w.reconciler.Clock.Now()); wait > 0 && !w.plan.Urgent {
		w.wait(wait)
		return nil
	}
	patch, err := statusPatch(w.job, w.plan.Write)
	if err != nil {
		return err
	}
	returned, err := w.reconciler.Client.BatchV1().Jobs(w.job.Namespace).Patch(ctx, w.job.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	switch {
	case apierrors.IsNotFound(err):
		return nil // the caches will receive the change
	case apierrors.IsConflict(err):
		w.wait(w.reconciler.BatchPeriod) // the caches will receive that change, too, and sooner
		return nil
	case apierrors.IsInvalid(err):
		w.warn(reasonInvalidStatus, err.Error())
	}
	if err != nil {
		return fmt.Errorf("write the status of job %s/%s: %w", w.job.Namespace, w.job.Name, err)
	}
	w.changed.Store(true)
	w.reconciler.Caches.TrimJob(returned)
	w.reconciler.Metrics.Written(w.job, returned)
	w.state.written = returned
	w.state.wrote.Store(w.reconciler.Clock.Now().UnixNano())
	for _, event := range w.plan.Events {
		w.record(event)
	}
	return nil
}

// statusPatch returns a patch with the changes of status and annotations. The patch fails if the Job has changed since it was read. It
// keeps fields of newer API servers that are unknown to this program, also in conditions, which are merged by type.
func statusPatch(read, written *batchv1.Job) ([]byte, error) {
	before := batchv1.Job{ObjectMeta: metav1.ObjectMeta{Annotations: read.Annotations}, Status: read.Status}
	after := batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: read.UID, ResourceVersion: read.ResourceVersion, Annotations: written.Annotations}, Status: written.Status}
	old, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	changed, err := json.Marshal(after)
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateTwoWayMergePatch(old, changed, batchv1.Job{})
}

// restPeriod returns the minimum time between two writes of counters. It is longer while pods are created, because every write delays their
// creation.
func (w *work) restPeriod() time.Duration {
	if len(w.plan.Create) > 0 {
		return w.reconciler.BatchPeriod
	}
	return w.reconciler.BatchPeriod / 5
}
