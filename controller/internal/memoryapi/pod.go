package memoryapi

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// Pods returns all pods in the order of their names. They are not to be changed.
func (s *Server) Pods() []*corev1.Pod { return listed[*corev1.Pod](s, Pods) }

// CreatePod stores a pod as if somebody had created it, and returns what is stored.
func (s *Server) CreatePod(pod *corev1.Pod) (*corev1.Pod, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.create(s.tables[Pods], pod.DeepCopy())
	if err != nil {
		return nil, err
	}
	return o.(*corev1.Pod).DeepCopy(), nil //nolint:forcetypeassert // the table has one type
}

// ChangePod changes a pod, as the kubelet does, without any checks. It does nothing when there is none.
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

// DeletePod deletes a pod with a grace period in seconds, or with that of the pod when it is negative.
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

// gracePeriod returns the seconds that an object is given. A pod that does not run needs none.
func gracePeriod(o Object, options *metav1.DeleteOptions) int64 {
	pod, ok := o.(*corev1.Pod)
	if !ok || pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return 0
	}
	const kubernetesDefault = 30
	return ptr.Deref(options.GracePeriodSeconds, ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, kubernetesDefault))
}

func secondsOf(n int64) time.Duration { return time.Duration(n) * time.Second }
