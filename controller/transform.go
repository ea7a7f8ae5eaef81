package controller

import (
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// partly is metadata.managedFields of an object of which the caches keep too little for custom rules. No other one has any.
var partly = []metav1.ManagedFieldsEntry{{Manager: Name}}

// isPartly tells whether an object comes through here a second time, after it was dropped from.
func isPartly(o metav1.Object) bool {
	fields := o.GetManagedFields()
	return len(fields) > 0 && &fields[0] == &partly[0] // anybody can call himself by our name
}

// partial tells whether custom rules must not be asked about an object, because the caches do not have the whole of it.
func partial(o metav1.Object) bool { return len(o.GetManagedFields()) > 0 }

// trimJob drops from a Job what nobody reads. Those that we run are kept whole, because they are written back, and all are while
// custom policies are in force, which may look at any part. It changes its argument, as informers allow.
func (c *caching) trimJob(job *batchv1.Job) {
	known := isPartly(job)
	job.ManagedFields = nil
	if managed(job) || c.observe && c.whole.Load() && !known {
		return
	}
	job.ManagedFields = partly
	job.Annotations = nil
	job.Spec.Template = corev1.PodTemplateSpec{}
	job.Spec.Selector = nil
}

// managed tells whether the Job is ours to run. The field cannot be changed (KEP-4368).
func managed(job *batchv1.Job) bool { return ptr.Deref(job.Spec.ManagedBy, "") == Name }

// trimPod drops from a pod what nobody reads. A pod that rules may be asked about is kept whole while custom policies are in
// force, because those may look at any part; each change of a pod comes with the whole of it.
func (c *caching) trimPod(pod *corev1.Pod) {
	known := isPartly(pod)
	pod.ManagedFields = nil
	judged := judgeable(pod)
	if judged && c.whole.Load() && !known {
		return
	}
	if judged {
		pod.ManagedFields = partly
	}
	skeleton(pod, judged)
	c.texts.share(pod)
}

// trimmed is a pod that a write returned, as the cache would have it.
func trimmed(pod *corev1.Pod) *corev1.Pod {
	pod.ManagedFields = nil
	if !judgeable(pod) {
		skeleton(pod, false)
	}
	return pod
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

// skeleton leaves of a pod what tells whose it is, which attempt, whether it is at work, and since when. A pod that is judged
// keeps what a podFailurePolicy looks at, and what the explanation of a verdict cites.
func skeleton(pod *corev1.Pod, judged bool) {
	pod.GenerateName, pod.SelfLink = "", "" //nolint:staticcheck // whoever sets it, it takes memory
	pod.Labels, pod.Annotations = relevant(pod.Labels), relevant(pod.Annotations)
	pod.OwnerReferences = slices.DeleteFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool { return !ptr.Deref(o.Controller, false) })
	pod.Spec = corev1.PodSpec{
		RestartPolicy: pod.Spec.RestartPolicy, NodeName: pod.Spec.NodeName, InitContainers: sidecars(pod.Spec.InitContainers),
	}
	s := &pod.Status
	pod.Status = corev1.PodStatus{
		Phase: s.Phase, Reason: s.Reason,
		Conditions:            conditions(s.Conditions, judged),
		InitContainerStatuses: statuses(s.InitContainerStatuses), ContainerStatuses: statuses(s.ContainerStatuses),
	}
}

// relevant are the labels or annotations by which Jobs and their pods are run.
func relevant(all map[string]string) map[string]string {
	maps.DeleteFunc(all, func(key, _ string) bool {
		return !strings.HasPrefix(key, "batch.kubernetes.io/") && !strings.HasPrefix(key, "podverdict.io/")
	})
	return all
}

// sidecars are the init containers that are; a pod has finished when these have.
func sidecars(containers []corev1.Container) []corev1.Container {
	var kept []corev1.Container
	for i := range containers {
		if c := &containers[i]; ptr.Deref(c.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways {
			kept = append(kept, corev1.Container{Name: c.Name, RestartPolicy: c.RestartPolicy})
		}
	}
	return kept
}

// conditions are all for a pod that is judged, and else those that say whether it is ready, and why it was to be deleted.
func conditions(all []corev1.PodCondition, judged bool) []corev1.PodCondition {
	var kept []corev1.PodCondition
	for _, c := range all {
		failing := c.Type == v1alpha1.FailingToStart
		if !judged && !failing && c.Type != corev1.PodReady {
			continue
		}
		k := corev1.PodCondition{Type: c.Type, Status: c.Status, LastTransitionTime: c.LastTransitionTime}
		if failing {
			k.Reason, k.Message = c.Reason, c.Message
		}
		kept = append(kept, k)
	}
	return slices.Clip(kept)
}

func statuses(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	var kept []corev1.ContainerStatus
	for i := range all {
		c := &all[i]
		k := corev1.ContainerStatus{Name: c.Name, RestartCount: c.RestartCount, State: c.State}
		if t := c.State.Terminated; t != nil {
			k.State.Terminated = &corev1.ContainerStateTerminated{
				ExitCode: t.ExitCode, Signal: t.Signal, Reason: t.Reason, StartedAt: t.StartedAt, FinishedAt: t.FinishedAt,
			}
		}
		if w := c.State.Waiting; w != nil {
			k.State.Waiting = &corev1.ContainerStateWaiting{Reason: w.Reason}
		}
		kept = append(kept, k)
	}
	return slices.Clip(kept)
}
