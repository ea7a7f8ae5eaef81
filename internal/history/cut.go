package history

import (
	"strings"
	"sync"
	"unicode/utf8"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/compiler/schema"
)

// MaxMessage is how many bytes of a message of the status are kept.
const MaxMessage = 256

// PodFields are the fields of Pods that are kept, but for some annotations. The set must not be changed.
var PodFields = schema.NewFields(
	"Pod.metadata", "Pod.spec", "PodSpec.nodeName",
	"Pod.status", "PodStatus.phase", "PodStatus.reason", "PodStatus.message", "PodStatus.startTime", "PodStatus.conditions",
	"PodCondition.type", "PodCondition.status", "PodCondition.lastTransitionTime", "PodCondition.reason", "PodCondition.message",
	"PodStatus.initContainerStatuses", "PodStatus.containerStatuses",
	"ContainerStatus.name", "ContainerStatus.restartCount", "ContainerStatus.state", "ContainerStatus.lastState",
	"ContainerState.waiting", "ContainerStateWaiting.reason", "ContainerStateWaiting.message",
	"ContainerState.running", "ContainerStateRunning.startedAt",
	"ContainerState.terminated", "ContainerStateTerminated.exitCode", "ContainerStateTerminated.signal", "ContainerStateTerminated.reason",
	"ContainerStateTerminated.message", "ContainerStateTerminated.startedAt", "ContainerStateTerminated.finishedAt",
	"ObjectMeta.name", "ObjectMeta.generateName", "ObjectMeta.namespace", "ObjectMeta.uid", "ObjectMeta.resourceVersion",
	"ObjectMeta.creationTimestamp", "ObjectMeta.deletionTimestamp", "ObjectMeta.labels", "ObjectMeta.annotations",
	"ObjectMeta.ownerReferences", "OwnerReference.*",
	"PodSpec.restartPolicy", "PodSpec.containers", "PodSpec.initContainers", "PodSpec.overhead", "PodSpec.resources",
	"Container.name", "Container.image", "Container.resources", "Container.restartPolicy", "ResourceRequirements.*",
)

// JobFields are those of Jobs, whose template is a Pod without metadata.
var JobFields = func() schema.Fields {
	kept := schema.NewFields(
		"Job.metadata", "Job.spec", "JobSpec.parallelism", "JobSpec.completions", "JobSpec.activeDeadlineSeconds", "JobSpec.podFailurePolicy",
		"JobSpec.successPolicy", "JobSpec.backoffLimit", "JobSpec.backoffLimitPerIndex", "JobSpec.maxFailedIndexes",
		"JobSpec.ttlSecondsAfterFinished", "JobSpec.completionMode", "JobSpec.suspend", "JobSpec.podReplacementPolicy", "JobSpec.managedBy",
		"JobSpec.template", "PodTemplateSpec.spec", "PodFailurePolicy.*", "SuccessPolicy.*", "Job.status", "JobStatus.*",
	)
	kept.AddAll(PodFields)
	return kept
}()

var (
	podPruner = sync.OnceValue(func() *schema.Pruner { return schema.Load().Pruner(schema.Load().Pod, PodFields) })
	jobPruner = sync.OnceValue(func() *schema.Pruner { return schema.Load().Pruner(schema.Load().Job, JobFields) })
)

// Pod returns what is kept of a Pod, which it leaves alone.
func Pod(pod *corev1.Pod) *corev1.Pod {
	kept := *pod
	kept.Spec = corev1.PodSpec{ // what is left out need not be copied
		NodeName: pod.Spec.NodeName, RestartPolicy: pod.Spec.RestartPolicy, Overhead: pod.Spec.Overhead, Resources: pod.Spec.Resources,
		Containers: pod.Spec.Containers, InitContainers: pod.Spec.InitContainers,
	}
	kept.ManagedFields = nil
	cut := kept.DeepCopy()
	podPruner().Prune(cut)
	cut.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	CutAnnotations(cut)
	CutMessages(&cut.Status)
	return cut
}

// Job returns what is kept of a Job, which it leaves alone.
func Job(job *batchv1.Job) *batchv1.Job {
	cut := job.DeepCopy()
	jobPruner().Prune(cut)
	cut.TypeMeta = metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job"}
	CutAnnotations(cut)
	for i := range cut.Status.Conditions {
		cut.Status.Conditions[i].Message = short(cut.Status.Conditions[i].Message)
	}
	return cut
}

// CutAnnotations removes the annotations of an object that are not of Kubernetes, its projects or podverdict, and the copy of the
// object that kubectl leaves.
func CutAnnotations(o metav1.Object) {
	var kept map[string]string
	for key, value := range o.GetAnnotations() {
		if domain, _, _ := strings.Cut(key, "/"); key != corev1.LastAppliedConfigAnnotation && keepsDomain(domain) {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[key] = value
		}
	}
	o.SetAnnotations(kept)
}

func keepsDomain(domain string) bool {
	for _, of := range []string{"kubernetes.io", "k8s.io", "x-k8s.io", "podverdict.io"} {
		if domain == of || strings.HasSuffix(domain, "."+of) {
			return true
		}
	}
	return false
}

// CutMessages shortens the messages of a Pod's status.
func CutMessages(s *corev1.PodStatus) {
	s.Message = short(s.Message)
	for i := range s.Conditions {
		s.Conditions[i].Message = short(s.Conditions[i].Message)
	}
	for _, all := range [][]corev1.ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses} {
		for i := range all {
			for _, state := range []corev1.ContainerState{all[i].State, all[i].LastTerminationState} {
				if state.Waiting != nil {
					state.Waiting.Message = short(state.Waiting.Message)
				}
				if state.Terminated != nil {
					state.Terminated.Message = short(state.Terminated.Message)
				}
			}
		}
	}
}

// short returns a text of at most MaxMessage bytes, cut between characters. Three dots stand for what is left out.
func short(text string) string {
	if len(text) <= MaxMessage {
		return text
	}
	end := MaxMessage - len("...")
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "..."
}
