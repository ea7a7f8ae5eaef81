package main

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A milestone in the life of a Job is the end of a phase, which has its name.
type milestone string

// The milestones, in their order.
const (
	created  milestone = "created"  // all pods are there, and counted as active
	replaced milestone = "replaced" // all pods have failed, and as many are there instead; both are counted
	finished milestone = "finished" // all pods have ended, and the Job is Complete or Failed
	released milestone = "released" // no pod has the tracking finalizer
)

// A shape is what becomes of a Job and its pods.
type shape struct {
	name     string // completes the sentence that a number of pods begins
	outcome  batchv1.JobConditionType
	retries  *int32 // backoffLimitPerIndex
	policy   *batchv1.PodFailurePolicy
	end      corev1.PodStatus // of each pod
	phases   []milestone
	measures []measure
}

// succeeding returns an Indexed Job whose pods all succeed.
func succeeding() shape {
	return shape{
		name: "succeed", outcome: batchv1.JobComplete, end: terminated(corev1.PodSucceeded, 0),
		phases: []milestone{created, finished, released},
		measures: []measure{
			{name: "succeed, until Complete", to: 2, lives: 1},
			{name: "succeed, until the last finalizer is gone", to: 3, lives: 1},
		},
	}
}

// failing returns an Indexed Job with backoffLimitPerIndex and a podFailurePolicy, whose pods all fail twice.
func failing() shape {
	return shape{
		name: "fail", outcome: batchv1.JobFailed, end: terminated(corev1.PodFailed, 1), retries: new(int32(1)), policy: unmatched(),
		phases: []milestone{created, replaced, finished, released},
		measures: []measure{
			{name: "fail, until they are replaced", from: 1, to: 2, lives: 1},
			{name: "fail twice, until Failed", to: 3, lives: 2},
			{name: "fail twice, until the last finalizer is gone", to: 4, lives: 2},
		},
	}
}

// until returns the phases up to the milestone, or all when it is not one of the shape.
func (s shape) until(last milestone) []milestone {
	if at := slices.Index(s.phases, last); at >= 0 {
		return s.phases[:at+1]
	}
	return s.phases
}

const (
	jobName   = "job"
	container = "main" // the only one of each pod
)

// job returns a Job of the shape, with as many pods.
func (s shape) job(pods int, managedBy *string) *batchv1.Job {
	number := int32(pods) //nolint:gosec // at most mostPods
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: jobName},
		Spec: batchv1.JobSpec{
			CompletionMode: new(batchv1.IndexedCompletion), Completions: &number, Parallelism: &number,
			BackoffLimitPerIndex: s.retries, PodFailurePolicy: s.policy, ManagedBy: managedBy,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: container, Image: "image"}},
			}},
		},
	}
}

// terminated returns the status of a pod whose container has ended.
func terminated(phase corev1.PodPhase, code int32) corev1.PodStatus {
	return corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{
		Name:  container,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}},
	}}}
}

// unmatched returns a policy in which every rule is looked at for every pod, and none matches.
func unmatched() *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		{
			Action: batchv1.PodFailurePolicyActionFailIndex,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				ContainerName: new(container), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42},
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
