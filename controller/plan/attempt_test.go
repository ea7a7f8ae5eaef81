package plan_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller/plan"
)

// ranFrom returns a pod named as by upstream, with creation and failure times in seconds; 0 means unknown.
func ranFrom(name string, created, failed int64) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PodStatus{Phase: corev1.PodFailed}}
	if created > 0 {
		p.CreationTimestamp = metav1.Unix(created, 0)
	}
	if failed > 0 {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: metav1.Unix(failed, 0)},
		}}}
	}
	return p
}

// TestAttempts tests that a pod comes after the pods that had failed when it was created, and never after itself.
func TestAttempts(t *testing.T) {
	running := ranFrom("running", 9, 0)
	running.Status.Phase = corev1.PodRunning
	for name, c := range map[string]struct {
		pods []*corev1.Pod
		want []int64
	}{
		"one after another":    {[]*corev1.Pod{ranFrom("a", 1, 2), ranFrom("b", 3, 4), ranFrom("c", 4, 9)}, []int64{1, 2, 3}},
		"in any order":         {[]*corev1.Pod{running, ranFrom("c", 4, 9), ranFrom("b", 3, 4), ranFrom("a", 1, 2)}, []int64{4, 3, 2, 1}},
		"side by side":         {[]*corev1.Pod{ranFrom("a", 1, 5), ranFrom("b", 1, 6), ranFrom("c", 5, 7)}, []int64{1, 1, 2}},
		"refused by nodes":     {[]*corev1.Pod{ranFrom("a", 1, 0), ranFrom("b", 2, 0)}, []int64{1, 2}},
		"written without time": {[]*corev1.Pod{ranFrom("a", 0, 0), ranFrom("b", 0, 0), ranFrom("c", 3, 4)}, []int64{1, 1, 1}},
		"named by Kubernetes":  {[]*corev1.Pod{ranFrom("train-x7k2p", 1, 2), ranFrom("train-b4wqz", 3, 4)}, []int64{1, 2}},
	} {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "train", UID: "uid"}}
		for _, pod := range c.pods {
			pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
		}
		if got := plan.Attempts(job, c.pods); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestAttemptsOfManaged tests that a pod's name gives its number, even for a Job from a file without a UID. There, a name
// is ignored if the pod's owner or labels contradict it.
func TestAttemptsOfManaged(t *testing.T) {
	for _, mode := range []batchv1.CompletionMode{batchv1.IndexedCompletion, batchv1.NonIndexedCompletion} {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "train", UID: "uid"}, Spec: batchv1.JobSpec{
			ManagedBy: new(v1alpha1.JobController), CompletionMode: &mode, Completions: new(int32(1)),
		}}
		var pods []*corev1.Pod
		for range 3 {
			made := plan.Next(plan.Observation{Job: job, Pods: pods, Now: time.Unix(9999, 0)}).Create[0]
			made.Status, made.CreationTimestamp = ranFrom("", 1, 1).Status, metav1.Unix(1, 0)
			pods = append(pods, made)
		}
		file := job.DeepCopy()
		file.UID = ""
		for name, of := range map[string]*batchv1.Job{"of the cluster": job, "of a file": file} {
			if got := plan.Attempts(of, pods); !slices.Equal(got, []int64{1, 2, 3}) {
				t.Errorf("%s, a Job %s: %v", mode, name, got)
			}
		}
		for _, pod := range pods {
			delete(pod.Labels, plan.AttemptLabel)
		}
		if got := plan.Attempts(job, pods); !slices.Equal(got, []int64{1, 2, 3}) {
			t.Errorf("%s, without labels: %v", mode, got)
		}
		if got := plan.Attempts(file, pods); !slices.Equal(got, []int64{3, 3, 3}) { // two had failed when each was created
			t.Errorf("%s, without labels and a UID: %v", mode, got)
		}
	}
}

// TestAttemptsOfMany tests that a namespace may have very many failed pods.
func TestAttemptsOfMany(t *testing.T) {
	const many = 100_000
	pods := make([]*corev1.Pod, many)
	for i := range pods {
		pods[i] = ranFrom(fmt.Sprint("p", i), int64(i+1), int64(i+1))
	}
	begun := time.Now()
	if got := plan.Attempts(&batchv1.Job{}, pods); got[many-1] != many {
		t.Errorf("the last one is attempt %d", got[many-1])
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("took %s: it should not grow with the square of the pods", took)
	}
}
