//go:build cluster

package custom

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

const (
	// patience is for a machine whose cores are all taken.
	patience = 2 * time.Minute
	// long is longer than every delay.
	long = time.Hour
)

// stage is where the Jobs of an example live.
type stage struct {
	*testing.T

	client    kubernetes.Interface
	example   string
	namespace string // instead of that of the example, if it is not empty
}

// trial is the life of an example's Job.
type trial struct {
	*stage

	job  *batchv1.Job
	pods map[string]*corev1.Pod // of the example
	// last is the pod that failed last, as it was before; ended is when.
	last  *corev1.Pod
	ended time.Time
}

// newTrial creates the Job of the example, under another name if there is a suffix.
func (s *stage) newTrial(suffix string) *trial {
	s.Helper()
	r := &trial{stage: s}
	r.job, r.pods = readExample(s.T, s.example)
	r.job.Name += suffix
	r.job.Namespace = cmp.Or(s.namespace, r.job.Namespace)
	created, err := s.client.BatchV1().Jobs(r.job.Namespace).Create(s.Context(), r.job, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		s.Fatal(err)
	}
	r.job = created
	return r
}

// fail ends the Job's pod as a pod of the example has ended, but some time ago. Of an Indexed Job it is the pod of the same
// index. It waits for the pod.
func (r *trial) fail(name string, ago time.Duration) {
	r.Helper()
	status := r.take(name)
	if r.ended = time.Now().Add(-ago); !move(status, r.ended) {
		r.ended = r.last.CreationTimestamp.Time // nothing else says when
	}
	r.write(func(pod *corev1.Pod) { pod.Status = *status })
}

// wait lets the Job's pod wait as a pod of the example does.
func (r *trial) wait(name string) {
	r.Helper()
	status := r.take(name)
	r.write(func(pod *corev1.Pod) { pod.Status = *status })
}

// take waits for the Job's pod, binds it to the node that a pod of the example is bound to, and returns that one's status.
func (r *trial) take(name string) *corev1.PodStatus {
	r.Helper()
	model := r.pods[name]
	if model == nil {
		r.Fatalf("there is no pod %s", name)
	}
	r.last = r.pod(model.Annotations[batchv1.JobCompletionIndexAnnotation])
	if model.Spec.NodeName != "" {
		err := r.client.CoreV1().Pods(r.job.Namespace).Bind(r.Context(), &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: r.last.Name, UID: r.last.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: model.Spec.NodeName},
		}, metav1.CreateOptions{})
		if err != nil {
			r.Fatal(err)
		}
	}
	return model.Status.DeepCopy()
}

// write changes the status of the last pod.
func (r *trial) write(change func(*corev1.Pod)) {
	r.Helper()
	pods := r.client.CoreV1().Pods(r.job.Namespace)
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		pod, err := pods.Get(r.Context(), r.last.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(pod)
		_, err = pods.UpdateStatus(r.Context(), pod, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		r.Fatal(err)
	}
}

// isDeleted waits until the last pod is being deleted because it does not start, and ends it as the kubelet does. It returns
// the condition that says why.
func (r *trial) isDeleted() (why corev1.PodCondition) {
	r.Helper()
	pods := r.client.CoreV1().Pods(r.job.Namespace)
	r.eventually("the pod is deleted", func(ctx context.Context) (string, bool, error) {
		pod, err := pods.Get(ctx, r.last.Name, metav1.GetOptions{})
		if err != nil {
			return "", false, err
		}
		why = conditionOf(pod, v1alpha1.FailingToStart)
		return fmt.Sprintf("%+v", pod.Status), pod.DeletionTimestamp != nil, nil
	})
	end := r.pods["deleted"].Status
	r.write(func(pod *corev1.Pod) {
		pod.Status.Phase, pod.Status.ContainerStatuses = end.Phase, end.ContainerStatuses
	})
	if err := pods.Delete(r.Context(), r.last.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil {
		r.Fatal(err)
	}
	return why
}

// conditionOf returns the condition of a type, or an empty one.
func conditionOf(pod *corev1.Pod, conditionType corev1.PodConditionType) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == conditionType {
			return c
		}
	}
	return corev1.PodCondition{}
}

// pod waits for the one pod that has not ended yet, of the index if it is not empty.
func (r *trial) pod(index string) (found *corev1.Pod) {
	r.Helper()
	r.eventually("there is a pod", func(ctx context.Context) (string, bool, error) {
		pods, err := r.client.CoreV1().Pods(r.job.Namespace).List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + r.job.Name})
		if err != nil {
			return "", false, err
		}
		found = nil
		for i := range pods.Items {
			p := &pods.Items[i]
			if p.Status.Phase == corev1.PodPending && p.DeletionTimestamp == nil && (index == "" || p.Annotations[batchv1.JobCompletionIndexAnnotation] == index) {
				if found != nil {
					r.Errorf("pods %s and %s at the same time", found.Name, p.Name)
				}
				found = p
			}
		}
		return fmt.Sprintf("%d pods", len(pods.Items)), found != nil, nil
	})
	return found
}

// isReplaced waits until the pod that failed last is replaced, and checks that as many pods count as failed. It
// returns how long after the end of the pod the next one was created, in whole seconds.
func (r *trial) isReplaced(failed int32) (after time.Duration) {
	r.Helper()
	next := r.pod(r.last.Annotations[batchv1.JobCompletionIndexAnnotation])
	r.counts(failed)
	return next.CreationTimestamp.Sub(r.ended.Truncate(time.Second))
}

// counts waits until the Job says that as many pods have failed. What is counted too much is seen by the next check at the
// latest, as it never gets less.
func (r *trial) counts(failed int32) {
	r.Helper()
	r.eventually(fmt.Sprintf("%d pods have failed", failed), func(ctx context.Context) (string, bool, error) {
		job, err := r.client.BatchV1().Jobs(r.job.Namespace).Get(ctx, r.job.Name, metav1.GetOptions{})
		if err == nil && job.Status.Failed > failed {
			r.Fatalf("after %s %d pods have failed, want %d", r.last.Name, job.Status.Failed, failed)
		}
		return fmt.Sprintf("%+v", job.Status), err == nil && job.Status.Failed == failed, err
	})
}

// failsIndexes waits until the Job says that these have failed.
func (r *trial) failsIndexes(want string) {
	r.Helper()
	r.eventually("indexes "+want+" have failed", func(ctx context.Context) (string, bool, error) {
		job, err := r.client.BatchV1().Jobs(r.job.Namespace).Get(ctx, r.job.Name, metav1.GetOptions{})
		if err != nil || job.Status.FailedIndexes == nil {
			return "", false, err
		}
		return *job.Status.FailedIndexes, *job.Status.FailedIndexes == want, nil
	})
}

// ends waits until the Job has failed, because of what was said of the pod that failed last.
func (r *trial) ends(reason, message string, failed int32) {
	r.Helper()
	var job *batchv1.Job
	var condition batchv1.JobCondition
	r.eventually("the Job has failed", func(ctx context.Context) (_ string, _ bool, err error) {
		if job, err = r.client.BatchV1().Jobs(r.job.Namespace).Get(ctx, r.job.Name, metav1.GetOptions{}); err != nil {
			return "", false, err
		}
		for _, condition = range job.Status.Conditions {
			if condition.Type == batchv1.JobFailed {
				return "", true, nil
			}
		}
		return fmt.Sprintf("%+v", job.Status), false, nil
	})
	message = strings.ReplaceAll(message, "POD", r.job.Namespace+"/"+r.last.Name)
	if condition.Reason != reason || condition.Message != message {
		r.Errorf("the Job has failed with\n%s: %s, want\n%s: %s", condition.Reason, condition.Message, reason, message)
	}
	if job.Status.Failed != failed || job.Status.Active != 0 {
		r.Errorf("%d pods have failed and %d are active, want %d and none", job.Status.Failed, job.Status.Active, failed)
	}
}

// tells waits for the event of the pod that failed last.
func (r *trial) tells(note string) {
	r.Helper()
	r.eventually("an event says "+note, func(ctx context.Context) (string, bool, error) {
		event, err := r.client.EventsV1().Events(r.job.Namespace).Get(ctx, "podverdict."+string(r.last.UID), metav1.GetOptions{})
		if err != nil {
			return "", false, err
		}
		return event.Note, event.Reason == "PodFailureVerdict" && event.Note == note, nil
	})
}

// eventually waits for a condition; what is seen is told when it does not come. An error that goes away does not matter.
func (r *trial) eventually(what string, is func(context.Context) (seen string, done bool, err error)) {
	r.Helper()
	var seen string
	var last error
	err := wait.PollUntilContextTimeout(r.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		text, done, err := is(ctx)
		if last = err; err == nil {
			seen = text
		}
		return done, nil
	})
	if err != nil {
		r.Fatalf("Job %s, waiting until %s: %v; seen: %s; error: %v", r.job.Name, what, err, seen, last)
	}
}

// move moves all times of a status so that the pod has ended at another one, and is false if no container has ended.
func move(status *corev1.PodStatus, to time.Time) bool {
	all := []*metav1.Time{status.StartTime}
	for i := range status.Conditions {
		all = append(all, &status.Conditions[i].LastTransitionTime)
	}
	var ended time.Time
	for _, containers := range [][]corev1.ContainerStatus{status.ContainerStatuses, status.InitContainerStatuses} {
		for i := range containers {
			t := containers[i].State.Terminated
			if t == nil {
				continue
			}
			all = append(all, &t.StartedAt, &t.FinishedAt)
			if t.FinishedAt.After(ended) {
				ended = t.FinishedAt.Time
			}
		}
	}
	if ended.IsZero() {
		*status.StartTime = metav1.NewTime(to)
		return false
	}
	for _, at := range all {
		*at = metav1.NewTime(at.Add(to.Sub(ended)))
	}
	return true
}
