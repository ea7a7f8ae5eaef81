package memoryapi

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Pods returns all pods sorted by name. The caller must not change them.
func (s *Server) Pods() []*corev1.Pod { return listed[*corev1.Pod](s, Pods) }

// CreatePod stores a pod as if a client had created it, and returns the stored object.
func (s *Server) CreatePod(pod *corev1.Pod) (*corev1.Pod, error) {
	return created(s, Pods, pod)
}

// ChangePod changes a pod without validation, as the kubelet does. It does nothing if the pod does not exist.
func (s *Server) ChangePod(namespace, name string, change func(*corev1.Pod)) {
	edit(s, Pods, namespace, name, change)
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
