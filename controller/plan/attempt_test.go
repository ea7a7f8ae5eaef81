package plan_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/controller/plan"
)

// ranFrom is a pod of upstream's naming that was created at a second, and failed at another: 0 is not known.
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

// TestAttempts: a pod comes after those that had failed when it was created, and never after itself.
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
		"named by Next":        {[]*corev1.Pod{ranFrom("-0-0-8lf98", 1, 2), ranFrom("-0-2-8lf98", 5, 6), ranFrom("-1-1-8lf98", 3, 4)}, []int64{1, 3, 2}},
	} {
		if got := plan.Attempts(&batchv1.Job{}, c.pods); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestAttemptsOfMany: a namespace may have very many failed pods.
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
