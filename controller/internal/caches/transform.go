package caches

import (
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/history"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

const (
	// maxTemplate is the maximum size in bytes of a managed Job's template that is cached. Larger templates are read when pods are created.
	maxTemplate = 16 << 10
	// MaxPairs is the maximum number of labels and annotations of a Job or pod. Each needs about 100 bytes of memory, even if it has only
	// two characters.
	MaxPairs = 1000
)

// transform trims the objects of all informers.
func (c *caching) transform(object any) (any, error) {
	switch o := object.(type) {
	case *batchv1.Job:
		c.trimJob(o)
	case *corev1.Pod:
		c.trimPod(o)
	case *corev1.Node:
		c.trimNode(o)
	}
	return object, nil
}

// trimJob removes the fields that are never read from a Job. It works in place, as informers allow. For a managed Job, it keeps all fields
// that are written back with the status.
func (c *caching) trimJob(job *batchv1.Job) {
	now := c.jobs.keeping.Load()
	if now.trimmed(job) {
		return
	}
	job.ManagedFields = nil
	switch large := job.Spec.Template.Size() > maxTemplate; {
	case plan.Managed(job) && large:
		job.ManagedFields = now.mark
		now.large.Prune(job)
	case plan.Managed(job):
	case !c.observe:
		ofNoInterest().Prune(job)
	default:
		job.ManagedFields = now.mark
		if now.history && !now.readsSome("annotations") {
			history.CutAnnotations(job.Annotations)
		}
		now.pruner.Prune(job)
	}
	limitPairs(job)
}

// LacksTemplate reports whether a cached managed Job was stored without its template.
func LacksTemplate(job *batchv1.Job) bool { return plan.Managed(job) && len(job.ManagedFields) > 0 }

// excess marks, in metadata.managedFields, objects that have too many labels and annotations.
var excess = []metav1.ManagedFieldsEntry{{Manager: v1alpha1.JobController}}

// Excessive reports whether an object was trimmed because it had too many labels and annotations.
func Excessive(o metav1.Object) bool {
	fields := o.GetManagedFields()
	return len(fields) > 0 && &fields[0] == &excess[0]
}

// limitPairs removes labels and annotations from an object that has too many.
func limitPairs(o metav1.Object) {
	if len(o.GetLabels())+len(o.GetAnnotations()) <= MaxPairs {
		return
	}
	o.SetManagedFields(excess)
	o.SetLabels(fewest(relevant(o.GetLabels())))
	o.SetAnnotations(fewest(relevant(o.GetAnnotations())))
}

// fewest returns a copy of labels or annotations without spare capacity, or nil if there are still too many.
func fewest(pairs map[string]string) map[string]string {
	if len(pairs) > MaxPairs {
		return nil
	}
	return maps.Clone(pairs)
}

// trimPod removes the fields that are never read from a pod. It keeps the fields read by rules only while rules may be evaluated on the pod
// in its present state, because every change delivers the complete pod again.
func (c *caching) trimPod(pod *corev1.Pod) {
	now := c.pods.keeping.Load()
	if now.trimmed(pod) {
		return
	}
	if c.judgeable(pod) {
		pod.ManagedFields = now.mark
		now.skeleton(pod, true)
	} else {
		withoutRules().trim(pod)
	}
	limitPairs(pod)
	c.texts.share(pod)
}

// Trimmed returns a pod returned by a write, trimmed at most as much as the cache would trim it.
func Trimmed(pod *corev1.Pod) *corev1.Pod {
	pod.ManagedFields = nil
	if !judgeable(pod, true) {
		withoutRules().trim(pod)
	}
	return pod
}

// trim trims a pod on which no rule is evaluated.
func (k *keeping) trim(pod *corev1.Pod) {
	pod.ManagedFields = k.mark
	k.skeleton(pod, false)
}

// judgeable reports whether rules may be evaluated on a pod in its present state.
func (c *caching) judgeable(pod *corev1.Pod) bool {
	return judgeable(pod, c.rulesOn(corev1.PodRunning))
}

// judgeable reports whether rules may be evaluated on a pod in its present state. The parameter running reports whether there are rules on
// phase Running. A pod that is being deleted may count as failed before it has ended.
func judgeable(pod *corev1.Pod, running bool) bool {
	switch pod.Status.Phase {
	case corev1.PodRunning:
		return running || pod.DeletionTimestamp != nil
	case corev1.PodSucceeded:
		return false
	default:
		return true
	}
}

// ofPods are the fields of pods that plans and podFailurePolicies read, and the field for the mark.
var ofPods = func() cel.Fields {
	kept := cel.NewFields("ObjectMeta.managedFields", "ManagedFieldsEntry.*")
	kept.AddAll(plan.PodFields)
	return kept
}()

// ofJobs are the fields that the controller reads of other controllers' Jobs: all except annotations, the selector and the template.
var ofJobs = cel.NewFields(
	"Job.metadata", "ObjectMeta.name", "ObjectMeta.namespace", "ObjectMeta.uid", "ObjectMeta.resourceVersion", "ObjectMeta.generation",
	"ObjectMeta.creationTimestamp", "ObjectMeta.deletionTimestamp", "ObjectMeta.deletionGracePeriodSeconds", "ObjectMeta.labels",
	"ObjectMeta.ownerReferences", "ObjectMeta.finalizers", "ObjectMeta.managedFields", "OwnerReference.*", "ManagedFieldsEntry.*",
	"Job.spec", "JobSpec.parallelism", "JobSpec.completions", "JobSpec.activeDeadlineSeconds", "JobSpec.podFailurePolicy",
	"JobSpec.successPolicy", "JobSpec.backoffLimit", "JobSpec.backoffLimitPerIndex", "JobSpec.maxFailedIndexes", "JobSpec.manualSelector",
	"JobSpec.ttlSecondsAfterFinished", "JobSpec.completionMode", "JobSpec.suspend", "JobSpec.podReplacementPolicy", "JobSpec.managedBy",
	"PodFailurePolicy.*", "SuccessPolicy.*", "Job.status", "JobStatus.*",
)

// ofLargeJobs are the fields of managed Jobs that are kept even if the template is large: the fields written back with the status, and the
// fields of the template that a Plan reads.
var ofLargeJobs = cel.NewFields(
	"ObjectMeta.*", "JobSpec.selector", "LabelSelector.*", "JobSpec.template", "PodTemplateSpec.spec", "PodSpec.restartPolicy",
)

// skeleton trims a pod to the fields that are kept. Where the controller needs only some entries of a list or map, the others are kept if
// rules read them.
func (k *keeping) skeleton(pod *corev1.Pod, judged bool) {
	if k.history && judged {
		k.cut(pod)
		return
	}
	if !k.rules.Reaches("Pod.metadata", "ObjectMeta.labels") {
		pod.Labels = relevant(pod.Labels)
	}
	if !k.rules.Reaches("Pod.metadata", "ObjectMeta.annotations") {
		pod.Annotations = relevant(pod.Annotations)
	}
	if !k.rules.Reaches("Pod.metadata", "ObjectMeta.ownerReferences") {
		pod.OwnerReferences = slices.DeleteFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool { return !ptr.Deref(o.Controller, false) })
	}
	if !k.rules.Reaches("Pod.spec", "PodSpec.initContainers") {
		pod.Spec.InitContainers = slices.DeleteFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
			return ptr.Deref(c.RestartPolicy, "") != corev1.ContainerRestartPolicyAlways // a pod has finished even if sidecars have not
		})
	}
	if !k.rules.Reaches("Pod.status", "PodStatus.conditions") {
		pod.Status.Conditions = conditions(pod, judged)
	}
	k.pruner.Prune(pod)
}

// cut trims a pod to the fields written to the history and the fields read by rules. It keeps the message that names a rule, because the
// program reads it.
func (k *keeping) cut(pod *corev1.Pod) {
	whole := slices.Clone(pod.Status.Conditions)
	if !k.readsSome("annotations") {
		history.CutAnnotations(pod.Annotations)
	}
	if !k.readsSome("message") {
		history.CutMessages(&pod.Status)
	}
	for i, c := range whole {
		if runtime.EndsBy(pod, &c) {
			pod.Status.Conditions[i] = c
		}
	}
	k.pruner.Prune(pod)
}

// readsSome reports whether rules may read a field with the given name in any type.
func (k *keeping) readsSome(field string) bool {
	for name := range k.rules {
		if _, of, _ := strings.Cut(name, "."); of == field || of == "*" {
			return true
		}
	}
	return false
}

// relevant returns the labels or annotations that Kubernetes and podverdict use to run Jobs and to end pods on lost nodes.
func relevant(all map[string]string) map[string]string {
	maps.DeleteFunc(all, func(key, _ string) bool {
		return !strings.HasPrefix(key, "batch.kubernetes.io/") && !strings.HasPrefix(key, "podverdict.io/") && key != binding.ForcefulDeletion
	})
	return all
}

// conditions returns all conditions of a pod on which rules are evaluated. For other pods, it returns only the conditions that show whether
// the pod is ready and why it was to be deleted.
func conditions(pod *corev1.Pod, judged bool) []corev1.PodCondition {
	var kept []corev1.PodCondition
	for _, c := range pod.Status.Conditions {
		ours := runtime.EndsBy(pod, &c)
		if !judged && !ours && c.Type != corev1.PodReady {
			continue
		}
		k := corev1.PodCondition{Type: c.Type, Status: c.Status, LastTransitionTime: c.LastTransitionTime}
		if ours {
			k.Reason, k.Message = c.Reason, c.Message
		}
		kept = append(kept, k)
	}
	return slices.Clip(kept)
}
