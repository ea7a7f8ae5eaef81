package testcluster

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
)

// PlayKubelet ends the Pods of a namespace with the exit codes returned by exit, until the test ends. It calls exit
// repeatedly for a Pod until the Pod ends, and never afterwards.
func PlayKubelet(t testing.TB, client kubernetes.Interface, namespace string, exit func(*corev1.Pod) (code int32, ends bool)) {
	t.Helper()
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	pods := factory.Core().V1().Pods().Informer()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	factory.Start(ctx.Done())
	ended := make(chan struct{})
	t.Cleanup(func() {
		stop()
		<-ended
		factory.Shutdown()
	})
	go func() {
		defer close(ended)
		codes := map[types.UID]int32{}
		for ticker := time.NewTicker(20 * time.Millisecond); ctx.Err() == nil; <-ticker.C {
			if err := endPods(ctx, client, pods.GetStore(), codes, exit); err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	}()
}

// endPods ends the cached Pods that may end. codes has the exit codes of ended Pods, by UID, because the cache may be
// old.
func endPods(ctx context.Context, client kubernetes.Interface, cached cache.Store, codes map[types.UID]int32, exit func(*corev1.Pod) (int32, bool)) error {
	for _, object := range cached.List() {
		pod, ok := object.(*corev1.Pod)
		if !ok || pod.Status.Phase != corev1.PodPending {
			continue
		}
		code, known := codes[pod.UID]
		if !known {
			var ends bool
			if code, ends = exit(pod); !ends {
				continue
			}
			codes[pod.UID] = code
		}
		pod = pod.DeepCopy()
		End(pod, code)
		_, err := client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
		if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// End writes the status to a Pod that a kubelet reports when its first container has exited with the code, and the others
// with 0.
func End(pod *corev1.Pod, code int32) {
	now := metav1.Now()
	podstatus.Start(pod, now)
	for _, c := range podstatus.Containers(pod) {
		if !c.Init {
			c.Exit(code, "", now)
			code = 0
		}
	}
	podstatus.End(pod, now)
}
