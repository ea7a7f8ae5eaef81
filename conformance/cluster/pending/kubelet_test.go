//go:build cluster

package pending

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// kubelet runs the pods of all nodes. The image of the first pod of a Job is not there; others end with exit code 0 at once,
// unless their Job never gets its image.
type kubelet struct {
	client    kubernetes.Interface
	namespace string
	first     map[string]types.UID // of the Jobs' pods, by the name of the Job
}

// neverPulled is in the names of the Jobs that never get their image.
const neverPulled = "never-pulled"

// run works until the test ends.
func (k *kubelet) run(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	t.Cleanup(func() {
		stop()
		<-ended
	})
	go func() {
		defer close(ended)
		for ticker := time.NewTicker(50 * time.Millisecond); ctx.Err() == nil; <-ticker.C {
			if err := k.sync(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	}()
}

func (k *kubelet) sync(ctx context.Context) error {
	pods, err := k.client.CoreV1().Pods(k.namespace).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName!="})
	if err != nil {
		return err
	}
	for i := range pods.Items {
		err := k.syncPod(ctx, &pods.Items[i])
		if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

func (k *kubelet) syncPod(ctx context.Context, pod *corev1.Pod) error {
	terminal := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
	switch {
	case terminal && pod.DeletionTimestamp != nil && *pod.DeletionGracePeriodSeconds > 0:
		now := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0)), Preconditions: metav1.NewUIDPreconditions(string(pod.UID))}
		return k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, now)
	case terminal:
		return nil
	case pod.DeletionTimestamp != nil:
		return k.write(ctx, pod, corev1.PodFailed, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 137, Reason: "ContainerStatusUnknown", Message: "The container could not be located when the pod was terminated",
		}})
	case k.pulls(pod):
		return k.write(ctx, pod, corev1.PodSucceeded, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			Reason: "Completed", StartedAt: metav1.Now(), FinishedAt: metav1.Now(),
		}})
	case len(pod.Status.ContainerStatuses) == 0:
		return k.write(ctx, pod, corev1.PodPending, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}})
	}
	return nil
}

// pulls reports whether the image of a pod is there.
func (k *kubelet) pulls(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	if strings.Contains(owner.Name, neverPulled) {
		return false
	}
	first, found := k.first[owner.Name]
	if !found {
		k.first[owner.Name] = pod.UID
	}
	return found && first != pod.UID || pod.Spec.NodeSelector[corev1.LabelHostname] == ""
}

// write patches the status of a pod. Conditions are merged by their types.
func (k *kubelet) write(ctx context.Context, pod *corev1.Pod, phase corev1.PodPhase, state corev1.ContainerState) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"status": map[string]any{
			"phase": phase,
			"conditions": []corev1.PodCondition{
				{Type: corev1.PodInitialized, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()},
				{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Now()},
			},
			"containerStatuses": []corev1.ContainerStatus{{Name: container, Image: "image", State: state}},
		},
	})
	if err != nil {
		return err
	}
	_, err = k.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}
