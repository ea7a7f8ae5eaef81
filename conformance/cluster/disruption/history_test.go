//go:build cluster

package disruption

import (
	"context"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podverdict/podverdict/controller"
)

// history has the last observed state of every Job and pod, including deleted ones, and the events that our controller
// recorded for pods.
type history struct {
	mu       sync.Mutex
	jobs     map[string]*batchv1.Job // by name
	pods     map[types.UID]*corev1.Pod
	verdicts map[types.UID]*eventsv1.Event // by pod
	changed  chan struct{}                 // closed by the next change
}

// watch watches the namespace until the test ends.
func watch(t *testing.T, client kubernetes.Interface, namespace string) *history {
	t.Helper()
	h := &history{
		jobs: map[string]*batchv1.Job{}, pods: map[types.UID]*corev1.Pod{},
		verdicts: map[types.UID]*eventsv1.Event{}, changed: make(chan struct{}),
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    h.record,
		UpdateFunc: func(_, object any) { h.record(object) },
		DeleteFunc: h.record,
	}
	for _, informer := range []cache.SharedIndexInformer{
		factory.Batch().V1().Jobs().Informer(), factory.Core().V1().Pods().Informer(), factory.Events().V1().Events().Informer(),
	} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			t.Fatal(err)
		}
	}
	factory.StartWithContext(t.Context())
	t.Cleanup(factory.Shutdown)
	for kind, synced := range factory.WaitForCacheSync(t.Context().Done()) {
		if !synced {
			t.Fatalf("the watch of %v does not start", kind)
		}
	}
	return h
}

func (h *history) record(object any) {
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch object := object.(type) {
	case *batchv1.Job:
		h.jobs[object.Name] = object
	case *corev1.Pod:
		h.pods[object.UID] = object
	case *eventsv1.Event:
		if object.ReportingController != controller.Name || object.Reason != "PodFailureVerdict" {
			return
		}
		h.verdicts[object.Regarding.UID] = object
	}
	close(h.changed)
	h.changed = make(chan struct{})
}

// until waits until done returns true. done must not retain the history.
func (h *history) until(ctx context.Context, done func(*history) bool) error {
	for {
		h.mu.Lock()
		ok, changed := done(h), h.changed
		h.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// of returns the Job's pods in the phase.
func (h *history) of(job string, phase corev1.PodPhase) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, pod := range h.pods {
		if owner := metav1.GetControllerOf(pod); owner != nil && owner.Name == job && pod.Status.Phase == phase {
			pods = append(pods, pod)
		}
	}
	return pods
}
