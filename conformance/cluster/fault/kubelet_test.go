//go:build cluster

package fault

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"golang.org/x/sync/errgroup"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// kubelet ends the pods of a namespace according to the trials. It retries failed calls.
type kubelet struct {
	*testcluster.World
	*witness

	trials map[string]trial // by Job name
	// pace returns the run time of a pod.
	pace func(job string, slot, attempt int) time.Duration
}

// callTimeout is the timeout of a call that gets no response.
const callTimeout = 5 * time.Second

// work ends pods until the context is done.
func (k *kubelet) work(ctx context.Context) {
	for tick := time.NewTicker(20 * time.Millisecond); ctx.Err() == nil; {
		var calls errgroup.Group
		calls.SetLimit(4)
		for _, next := range k.due(time.Now()) {
			calls.Go(func() error {
				ctx, stop := context.WithTimeout(ctx, callTimeout)
				defer stop()
				if _, err := k.Client.CoreV1().Pods(k.Namespace).UpdateStatus(ctx, next, metav1.UpdateOptions{}); err == nil {
					k.done(next)
				}
				return nil // the pod stays due until it is seen to have changed
			})
		}
		_ = calls.Wait()
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// due returns the pods that need a new status, with that status.
func (k *kubelet) due(now time.Time) []*corev1.Pod {
	k.mu.Lock()
	defer k.mu.Unlock()
	var due []*corev1.Pod
	for job, pods := range k.pods {
		for _, pod := range pods {
			if next := k.next(job, pod, now); next != nil {
				due = append(due, next)
			}
		}
	}
	slices.SortFunc(due, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return due
}

// next returns a pod with its next status, or nil if it needs none now.
func (k *kubelet) next(job string, pod *corev1.Pod, now time.Time) *corev1.Pod {
	first, known := k.made[job][pod.UID]
	if !known || terminal(pod) || k.told[pod.UID] == pod.ResourceVersion {
		return nil
	}
	if pod.DeletionTimestamp != nil {
		return end(pod, codeKilled)
	}
	code := k.trials[job].exitCode(first.slot, first.attempt)
	switch over := now.Sub(first.at) >= k.pace(job, first.slot, first.attempt); {
	case pod.Status.Phase == corev1.PodPending && !over:
		return run(pod)
	case code != never && over:
		return end(pod, code)
	}
	return nil
}

// codeKilled is the exit code of a stopped container.
const codeKilled = 137

// run returns a copy of the pod that is running.
func run(pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	podstatus.Start(pod, metav1.Now())
	return pod
}

// end returns a copy of the pod that has ended.
func end(pod *corev1.Pod, code int32) *corev1.Pod {
	pod = pod.DeepCopy()
	pod.Status.Conditions = nil
	testcluster.End(pod, code)
	return pod
}

func terminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// active reports whether a pod works on its slot.
func active(pod *corev1.Pod) bool { return !terminal(pod) && pod.DeletionTimestamp == nil }

// done keeps the kubelet from repeating a write before the watch shows it. written has the version that was changed.
func (k *kubelet) done(written *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.told[written.UID] = written.ResourceVersion
}
