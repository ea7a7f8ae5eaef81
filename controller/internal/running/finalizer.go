package running

import (
	"context"
	"encoding/json"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podverdict/podverdict/controller/internal/caches"
)

// removeFinalizer removes the tracking finalizer if the pod has not changed since it was read.
func removeFinalizer(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) (*corev1.Pod, error) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":                                 pod.UID,
		"resourceVersion":                     pod.ResourceVersion,
		"$deleteFromPrimitiveList/finalizers": []string{batchv1.JobTrackingFinalizer},
	}})
	if err != nil {
		return nil, err
	}
	returned, err := client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return nil, fmt.Errorf("remove the finalizer of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return caches.Trimmed(returned), nil
}
