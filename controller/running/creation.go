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

	"github.com/podverdict/podverdict/controller/caches"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/plan"
)

const (
	// CallTimeout is how long a call may take. The API server gets it with the call, and gives up then too.
	CallTimeout = 30 * time.Second
	// lookUpPeriod is the time between two looks for a pod of which nobody knows whether it was created.
	lookUpPeriod = time.Second
)

// createPods creates the Plan's pods. After a creation that failed, it tries only one.
func (w *work) createPods(ctx context.Context) error {
	pods, width := w.creatable(), w.reconciler.width
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
	if len(created) > 0 {
		w.note(reasonSuccessfulCreate, createdMessage(created))
	}
	if err != nil && !metrics.Panicked(err) { // which sync records
		w.warn(reasonFailedCreate, "Error creating: "+errors.Unwrap(err).Error())
	}
	return err
}

// template reads the Job's template, which the cache does not have. It is that of the Job as the cache has it, or an error:
// then the cache will show another one.
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

// creatable returns the Plan's pods; while creations have no known outcome, those of them that it asks for again. The Plan does not
// know the others, and could put a second pod beside one of them.
func (w *work) creatable() []*corev1.Pod {
	if len(w.state.unknown) == 0 || len(w.plan.Create) == 0 {
		return w.plan.Create
	}
	w.wait(lookUpPeriod)
	return slices.DeleteFunc(slices.Clone(w.plan.Create), func(pod *corev1.Pod) bool { _, unknown := w.state.unknown[pod.Name]; return !unknown })
}

// createdMessage returns upstream's for one pod, and names the first of many.
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

// createPod creates a pod, and reports whether that was us and now.
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
		// From now on, because the call may have waited for the client's rate limiter before it was sent.
		w.state.learnUnknown(pod.Name, w.reconciler.Clock.Now().Add(CallTimeout))
	}
	return false, fmt.Errorf("create pod %s/%s: %w", pod.Namespace, pod.Name, err)
}

// refused reports whether the API server has said that it did not do it.
func refused(err error) bool {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code >= 400 && code < 500 && !apierrors.IsTimeout(err)
}

// lookUp looks for the pods of which it is not known whether they were created.
func (w *work) lookUp(ctx context.Context) error {
	for name, until := range w.state.unknown {
		if err := w.lookUpPod(ctx, w.job.Namespace, name, until); err != nil {
			return err // the others would take as long
		}
	}
	return nil
}

// lookUpPod learns what the name stands for: a pod of the Job, one of somebody else, or, when no creation can take effect
// any more, nothing.
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

// releaseTaken removes the finalizer of a pod that was the Job's until somebody took its labels or its owner: no cache will show it
// as one of the Job, so nobody else would.
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

// shown reports whether the caches show the pod as one of the Job. Somebody may have removed the label, or refer to the Job in
// another way.
func (w *work) shown(pod *corev1.Pod) bool {
	_, labeled := pod.Labels[batchv1.ControllerUidLabel]
	return labeled && plan.Controls(w.job, pod)
}
