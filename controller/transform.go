package controller

import (
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

// The caches keep of an object what somebody reads. Each function changes its argument, as informers allow.

// trimJob leaves a Job as it is, because it is written back whole, or custom policies may look at any part of it. Nobody looks
// at the template of one that is neither run nor observed.
func trimJob(observe bool) cache.TransformFunc {
	return func(object any) (any, error) {
		job, ok := object.(*batchv1.Job)
		if !ok {
			return object, nil
		}
		job.ManagedFields = nil
		if !managed(job) && !observe {
			job.Annotations = withoutManifest(job.Annotations)
			job.Spec.Template = corev1.PodTemplateSpec{}
		}
		return job, nil
	}
}

// managed tells whether the Job is ours to run. The field cannot be changed (KEP-4368).
func managed(job *batchv1.Job) bool { return ptr.Deref(job.Spec.ManagedBy, "") == Name }

// trimPod keeps of a pod that runs, or has succeeded, metadata, status, and what tells containers from sidecars and where the
// pod runs. Others may be judged, and a custom rule may look at any part of them, so they are left as they are; every change
// of a pod comes with the whole of it.
func trimPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	pod.ManagedFields = nil
	if judgeable(pod) {
		return pod, nil
	}
	pod.Annotations = withoutManifest(pod.Annotations)
	pod.Spec = corev1.PodSpec{
		RestartPolicy:     pod.Spec.RestartPolicy,
		NodeName:          pod.Spec.NodeName,
		Priority:          pod.Spec.Priority,
		PriorityClassName: pod.Spec.PriorityClassName,
		InitContainers:    trimContainers(pod.Spec.InitContainers),
		Containers:        trimContainers(pod.Spec.Containers),
	}
	return pod, nil
}

// judgeable tells whether rules may be asked about a pod as it is. One that is being deleted may count as failed before it has
// ended.
func judgeable(pod *corev1.Pod) bool {
	switch pod.Status.Phase {
	case corev1.PodRunning:
		return pod.DeletionTimestamp != nil
	case corev1.PodSucceeded:
		return false
	default:
		return true
	}
}

func trimContainers(containers []corev1.Container) []corev1.Container {
	trimmed := make([]corev1.Container, len(containers))
	for i, c := range containers {
		trimmed[i] = corev1.Container{Name: c.Name, Image: c.Image, Resources: c.Resources, RestartPolicy: c.RestartPolicy}
	}
	return trimmed
}

// withoutManifest drops the copy of the manifest that kubectl apply leaves.
func withoutManifest(annotations map[string]string) map[string]string {
	if _, found := annotations[corev1.LastAppliedConfigAnnotation]; !found {
		return annotations
	}
	kept := maps.Clone(annotations)
	delete(kept, corev1.LastAppliedConfigAnnotation)
	return kept
}

// trimmed is a pod that a write returned, as the cache would have it.
func trimmed(pod *corev1.Pod) *corev1.Pod {
	_, _ = trimPod(pod) // no error
	return pod
}
