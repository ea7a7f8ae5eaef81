package memoryapi

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// Pods returns all pods sorted by name. The caller must not change them.
func (s *Server) Pods() []*corev1.Pod { return listed[*corev1.Pod](s, Pods) }

// CreatePod stores a pod as if a client had created it, and returns the stored object.
func (s *Server) CreatePod(pod *corev1.Pod) (*corev1.Pod, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.create(s.tables[Pods], pod.DeepCopy())
	if err != nil {
		return nil, err
	}
	return o.(*corev1.Pod).DeepCopy(), nil //nolint:forcetypeassert // the table has one type
}

// ChangePod changes a pod without validation, as the kubelet does. It does nothing if the pod does not exist.
func (s *Server) ChangePod(namespace, name string, change func(*corev1.Pod)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tables[Pods]
	if old, ok := t.objects[types.NamespacedName{Namespace: namespace, Name: name}].(*corev1.Pod); ok {
		pod := old.DeepCopy()
		change(pod)
		s.store(t, pod)
	}
}

// DeletePod deletes a pod with a grace period in seconds, or the pod's own if it is negative.
func (s *Server) DeletePod(namespace, name string, grace int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	options := &metav1.DeleteOptions{}
	if grace >= 0 {
		options.GracePeriodSeconds = &grace
	}
	_, err := s.erase(s.tables[Pods], Call{Namespace: namespace, Name: name}, options)
	return err
}

// gracePeriod returns the grace period in seconds for deleting an object. A pod that does not run gets none.
func gracePeriod(o Object, options *metav1.DeleteOptions) int64 {
	pod, ok := o.(*corev1.Pod)
	if !ok || pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return 0
	}
	const kubernetesDefault = 30
	return ptr.Deref(options.GracePeriodSeconds, ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, kubernetesDefault))
}

func secondsOf(n int64) time.Duration { return time.Duration(n) * time.Second }
