package running

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/plan"
)

const (
	// CallTimeout is the timeout of a call. It is sent to the API server, which also aborts the call after this time.
	CallTimeout = 30 * time.Second
	// lookUpPeriod is the interval for looking up a pod whose creation has an unknown outcome.
	lookUpPeriod = time.Second
)

// createPods creates the Plan's pods. If the last creation failed, it tries only one.
func (w *work) createPods(ctx context.Context) error {
	pods, width := w.mendedLast(w.creatable()), w.reconciler.width
	if w.state.creationFailed && len(pods) > 0 {
		pods, width = pods[:1], 1
	}
	var mu sync.Mutex
	var created []string
	err := w.each(ctx, pods, width, func(ctx context.Context, pod *corev1.Pod) error {
		done, err := w.createPod(ctx, pod)
		mu.Lock()
		defer mu.Unlock()
		if done {
			created = append(created, pod.Name)
		}
		return err
	})
	if len(pods) > 0 {
		w.state.creationFailed = err != nil
	}
	if err != nil {
		w.state.refusals++
	}
	if len(created) > 0 {
		w.note(reasonSuccessfulCreate, createdMessage(created))
		w.tellMended(created)
	}
	if err != nil && !metrics.Panicked(err) { // sync records panics
		w.warn(reasonFailedCreate, "Error creating: "+errors.Unwrap(err).Error())
	}
	return err
}

// template reads the Job's template, which the cache lacks. It returns an error if the Job has changed since the cached version. The cache
// will then receive the new one.
func (w *work) template(ctx context.Context) (*corev1.PodTemplateSpec, error) {
	job, err := w.reconciler.Client.BatchV1().Jobs(w.job.Namespace).Get(ctx, w.job.Name, metav1.GetOptions{})
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the template of job %s/%s: %w", w.job.Namespace, w.job.Name, err)
	case job.UID != w.job.UID || job.Generation != w.job.Generation:
		return nil, fmt.Errorf("the template of job %s/%s is newer than the job in the cache", w.job.Namespace, w.job.Name)
	}
	return &job.Spec.Template, nil
}

// creatable returns the Plan's pods to create. While the outcome of earlier creations is unknown, it returns only pods whose creation is to
// be repeated: the Plan does not include pods that may exist, and could create a second pod for one of their slots.
func (w *work) creatable() []*corev1.Pod {
	if len(w.state.unknown) == 0 || len(w.plan.Create) == 0 {
		return w.plan.Create
	}
	w.wait(lookUpPeriod)
	return slices.DeleteFunc(slices.Clone(w.plan.Create), func(pod *corev1.Pod) bool { _, unknown := w.state.unknown[pod.Name]; return !unknown })
}

// createdMessage returns upstream's message for one pod, and a list of names for several.
func createdMessage(names []string) string {
	if len(names) == 1 {
		return "Created pod: " + names[0]
	}
	slices.Sort(names)
	const most = 5
	message := "Created " + strconv.Itoa(len(names)) + " pods: " + strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		message += ", ..."
	}
	return message
}

// createPod creates a pod, and reports whether this call created it.
func (w *work) createPod(ctx context.Context, pod *corev1.Pod) (bool, error) {
	returned, err := w.reconciler.Client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	w.reconciler.Metrics.Created(w.job, &w.plan, err)
	switch {
	case err == nil:
		w.state.learn(caches.Trimmed(returned))
		w.changed.Store(true)
		return true, nil
	case apierrors.IsAlreadyExists(err):
		return false, w.lookUpPod(ctx, pod.Namespace, pod.Name, w.reconciler.Clock.Now())
	case refused(err):
		w.state.learnNotCreated(pod.Name)
	default:
		// Count from now, because the call may have waited for the rate limiter before it was sent.
		w.state.learnUnknown(pod.Name, w.reconciler.Clock.Now().Add(CallTimeout))
	}
	if changes := w.plan.Mended[pod.Name]; len(changes) > 0 {
		err = fmt.Errorf("%s: %w", changesText(changes), err)
	}
	return false, fmt.Errorf("create pod %s/%s: %w", pod.Namespace, pod.Name, err)
}

// refused reports whether the API server returned an error that means that the call had no effect.
func refused(err error) bool {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code >= 400 && code < 500 && !apierrors.IsTimeout(err)
}

// lookUp looks up the pods whose creation has an unknown outcome.
func (w *work) lookUp(ctx context.Context) error {
	for name, until := range w.state.unknown {
		if err := w.lookUpPod(ctx, w.job.Namespace, name, until); err != nil {
			return err // the others would need as long
		}
	}
	return nil
}

// lookUpPod determines which object uses the name: a pod of the Job, another owner's pod, or none if the creation can no longer take
// effect.
func (w *work) lookUpPod(ctx context.Context, namespace, name string, until time.Time) error {
	pod, err := w.reconciler.Client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		if w.reconciler.Clock.Now().After(until) {
			w.state.learnNotCreated(name)
		}
		return nil
	case err != nil:
		return fmt.Errorf("look up pod %s/%s: %w", namespace, name, err)
	case w.shown(pod):
		w.state.learn(caches.Trimmed(pod))
	default:
		if err := w.releaseTaken(ctx, pod); err != nil {
			return err
		}
		w.state.learnTaken(name)
	}
	w.changed.Store(true)
	return nil
}

// releaseTaken removes the finalizer of a pod whose labels or owner reference to the Job were removed by another client. The caches no
// longer list it as the Job's pod, so no other code would release it.
func (w *work) releaseTaken(ctx context.Context, pod *corev1.Pod) error {
	ours := plan.Controls(w.job, pod) || plan.Made(pod)
	if !slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) || !ours {
		return nil
	}
	if _, err := removeFinalizer(ctx, w.reconciler.Client, pod); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	return nil
}

// shown reports whether the caches list the pod as one of the Job. Another client may have removed the label or changed the owner
// reference.
func (w *work) shown(pod *corev1.Pod) bool {
	_, labeled := pod.Labels[batchv1.ControllerUidLabel]
	return labeled && plan.Controls(w.job, pod)
}
