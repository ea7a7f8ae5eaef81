package install

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
)

// playKubelet ends the pods of a namespace with the exit codes that it is told, until the test ends. Those for which there is
// none wait.
func playKubelet(t *testing.T, client kubernetes.Interface, namespace string, exit func(*corev1.Pod) (code int32, ends bool)) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	t.Cleanup(func() {
		stop()
		<-ended
	})
	go func() {
		defer close(ended)
		for ticker := time.NewTicker(20 * time.Millisecond); ctx.Err() == nil; <-ticker.C {
			if err := endPods(ctx, client, namespace, exit); err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	}()
}

func endPods(ctx context.Context, client kubernetes.Interface, namespace string, exit func(*corev1.Pod) (int32, bool)) error {
	pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("status.phase", string(corev1.PodPending)).String(),
	})
	if err != nil {
		return err
	}
	for _, pod := range pods.Items {
		code, ends := exit(&pod)
		if !ends {
			continue
		}
		end(&pod, code)
		_, err := client.CoreV1().Pods(namespace).UpdateStatus(ctx, &pod, metav1.UpdateOptions{})
		if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

func end(pod *corev1.Pod, code int32) {
	now := metav1.Now()
	pod.Status.Phase = corev1.PodSucceeded
	if code != 0 {
		pod.Status.Phase = corev1.PodFailed
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, StartedAt: now, FinishedAt: now},
	}}}
}

// of tells whether a pod is of a Job.
func of(pod *corev1.Pod, job string) bool { return strings.HasPrefix(pod.Name, job+"-") }
