package controllerbench

import (
	"context"
	"encoding/json"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podverdict/podverdict/conformance/upstream/internal/progress"
)

// parallel is how many calls are made at a time, which keeps the API server busy.
const parallel = 64

// A kubelet plays the one of all nodes.
type kubelet struct {
	client kubernetes.Interface
	log    io.Writer // for progress
}

// end writes a status to all the pods, with the present time in it.
func (k kubelet) end(ctx context.Context, pods []*corev1.Pod, status corev1.PodStatus) error {
	status = *status.DeepCopy()
	status.ContainerStatuses[0].State.Terminated.FinishedAt = metav1.Now()
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	return k.each(ctx, pods, "ended", func(ctx context.Context, pod *corev1.Pod) error {
		_, err := k.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		return err
	})
}

// remove deletes the pods, finalizers or not.
func (k kubelet) remove(ctx context.Context, pods []*corev1.Pod) error {
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	return k.each(ctx, pods, "removed", func(ctx context.Context, pod *corev1.Pod) error {
		client := k.client.CoreV1().Pods(pod.Namespace)
		if len(pod.Finalizers) > 0 {
			free := []byte(`{"metadata":{"finalizers":null}}`)
			if _, err := client.Patch(ctx, pod.Name, types.MergePatchType, free, metav1.PatchOptions{}); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
		if err := client.Delete(ctx, pod.Name, now); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		return nil
	})
}

// each does something to all pods, several at a time, and stops at the first error. The participle is for the progress.
func (k kubelet) each(ctx context.Context, pods []*corev1.Pod, participle string, do func(context.Context, *corev1.Pod) error) error {
	line := progress.New(k.log, int64(len(pods)), "pods "+participle)
	defer line.End()
	var mu sync.Mutex
	var done int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, pod := range pods {
		group.Go(func() error {
			err := do(ctx, pod)
			mu.Lock()
			defer mu.Unlock()
			done++
			line.Show(done)
			return err
		})
	}
	return group.Wait()
}
