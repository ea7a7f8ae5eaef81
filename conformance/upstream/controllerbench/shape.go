package controllerbench

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Shape is what becomes of a Job and its pods.
type Shape struct {
	Name string // completes the sentence that a number of pods begins

	outcome  batchv1.JobConditionType
	retries  *int32 // backoffLimitPerIndex
	policy   *batchv1.PodFailurePolicy
	end      corev1.PodStatus // of each pod
	phases   []Milestone
	measures []measure
}

// Succeed returns an Indexed Job whose pods all succeed.
func Succeed() Shape {
	whole := []Milestone{Created, Finished, Released}
	return Shape{
		Name: "succeed", outcome: batchv1.JobComplete, end: terminated(corev1.PodSucceeded, 0), phases: whole,
		measures: []measure{
			{name: "succeed, until Complete", phases: whole[:2], lives: 1},
			{name: "succeed, until the last finalizer is gone", phases: whole, lives: 1},
		},
	}
}

// Fail returns an Indexed Job with backoffLimitPerIndex and a podFailurePolicy, whose pods all fail twice.
func Fail() Shape {
	retries := int32(1)
	whole := []Milestone{Created, Replaced, Finished, Released}
	return Shape{
		Name: "fail", outcome: batchv1.JobFailed, end: terminated(corev1.PodFailed, 1), phases: whole,
		retries: &retries, policy: unmatched(),
		measures: []measure{
			{name: "fail, until they are replaced", phases: whole[1:2], lives: 1, bar: 0.55, from: 1000},
			{name: "fail twice, until Failed", phases: whole[:3], lives: 2},
			{name: "fail twice, until the last finalizer is gone", phases: whole, lives: 2},
		},
	}
}

// ParseShape returns the Shape of the name.
func ParseShape(name string) (Shape, error) {
	for _, s := range []Shape{Succeed(), Fail()} {
		if s.Name == name {
			return s, nil
		}
	}
	return Shape{}, errShape(name)
}

// until returns the shape's phases up to the milestone.
func (s Shape) until(last Milestone) []Milestone {
	if at := slices.Index(s.phases, last); at >= 0 {
		return s.phases[:at+1]
	}
	return s.phases
}

// job returns a Job of the shape, with as many pods.
func (s Shape) job(pods int, managedBy *string) *batchv1.Job {
	mode, number := batchv1.IndexedCompletion, int32(pods) //nolint:gosec // at most mostPods
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: jobName},
		Spec: batchv1.JobSpec{
			CompletionMode: &mode, Completions: &number, Parallelism: &number,
			BackoffLimitPerIndex: s.retries, PodFailurePolicy: s.policy, ManagedBy: managedBy,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: container, Image: "image"}},
			}},
		},
	}
}

const (
	jobName   = "job"
	container = "main" // the only one of each pod
)

// terminated returns the status of a pod whose container has ended.
func terminated(phase corev1.PodPhase, code int32) corev1.PodStatus {
	return corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{
		Name:  container,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}},
	}}}
}

// unmatched returns a policy in which every rule is looked at for every pod, and none matches.
func unmatched() *batchv1.PodFailurePolicy {
	name := container
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		{
			Action: batchv1.PodFailurePolicyActionFailIndex,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				ContainerName: &name, Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42},
			},
		},
		{
			Action: batchv1.PodFailurePolicyActionIgnore,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
				{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
			},
		},
	}}
}
