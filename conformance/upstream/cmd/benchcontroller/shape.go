package main

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A milestone in the life of a Job is the end of a phase with the same name.
type milestone string

// The milestones, in order.
const (
	created  milestone = "created"  // all pods exist, and are counted as active
	replaced milestone = "replaced" // all pods have failed and are replaced; both are counted
	ready    milestone = "ready"    // all pods of a stream are ready, and counted as ready
	streamed milestone = "streamed" // pods have ended for a while; they and their ready replacements are counted
	finished milestone = "finished" // all pods have ended, and the Jobs are Complete or Failed
	released milestone = "released" // no pod has the tracking finalizer
)

// A shape describes a Job and the fate of its pods.
type shape struct {
	name     string // completes a sentence that begins with a number of pods
	outcome  batchv1.JobConditionType
	retries  *int32 // backoffLimitPerIndex
	failures *int32 // maxFailedIndexes; without it the API server accepts at most 10,000 indexes
	policy   *batchv1.PodFailurePolicy
	ends     []corev1.PodStatus // final statuses of pods, in turn
	beat     time.Duration      // time between two ends
	starts   []corev1.PodStatus // statuses that the kubelet writes to each new pod, one after the other
	sizes    []int              // default numbers of pods
	share    int                // one in how many indexes is active at a time; 0 means all are
	qps      float32            // QPS of the controller; -1 means no limit
	podsOf   int                // pods of each Job; 0 means one Job
	phases   []milestone
	measures []measure
}

// succeeding returns an Indexed Job whose pods all succeed.
func succeeding() shape {
	return shape{
		name: "succeed", outcome: batchv1.JobComplete, ends: []corev1.PodStatus{terminated(corev1.PodSucceeded, 0)},
		qps: burst, sizes: []int{10, 100, 1_000}, phases: []milestone{created, finished, released},
		measures: []measure{
			{name: "succeed, until Complete", to: 2},
			{name: "succeed, until the last finalizer is gone", to: 3},
		},
	}
}

// failing returns an Indexed Job with backoffLimitPerIndex and a podFailurePolicy, whose pods all fail twice.
func failing() shape {
	return shape{
		name: "fail", outcome: batchv1.JobFailed, ends: []corev1.PodStatus{terminated(corev1.PodFailed, 1)}, retries: new(int32(1)), policy: unmatched(),
		qps: burst, sizes: []int{10, 100, 1_000}, phases: []milestone{created, replaced, finished, released},
		measures: []measure{
			{name: "fail, until they are replaced", from: 1, to: 2},
			{name: "fail twice, until Failed", to: 3},
			{name: "fail twice, until the last finalizer is gone", to: 4},
		},
	}
}

// streaming returns an Indexed Job with a tenth of its indexes active. Its pods run, and then end one after the other;
// one in ten fails.
func streaming() shape {
	ends := append(slices.Repeat(succeeding().ends, 9), failing().ends...)
	return shape{
		name: "stream", outcome: batchv1.JobComplete, starts: []corev1.PodStatus{running()}, ends: ends, beat: 50 * time.Millisecond,
		retries: new(int32(10)), failures: new(int32(10)), share: 10, qps: -1, sizes: []int{1_000, 10_000, 100_000}, phases: []milestone{ready, streamed},
		measures: []measure{{name: "of which a tenth is active, a stream of ends", from: 1, to: 2}},
	}
}

// crowding returns Jobs of ten pods that succeed as soon as they run.
func crowding() shape {
	return shape{
		name: "many", outcome: batchv1.JobComplete, starts: append([]corev1.PodStatus{running()}, succeeding().ends...),
		podsOf: 10, qps: -1, sizes: []int{2_000}, phases: []milestone{finished, released},
		measures: []measure{
			{name: "succeed in Jobs of 10, until Complete", to: 1},
			{name: "succeed in Jobs of 10, until the last finalizer is gone", to: 2},
		},
	}
}

// until returns the phases up to the milestone, or all if the shape does not have it.
func (s shape) until(last milestone) []milestone {
	if at := slices.Index(s.phases, last); at >= 0 {
		return s.phases[:at+1]
	}
	return s.phases
}

const container = "main" // the only container of each pod

// active returns the number of pods that run at a time.
func (s shape) active(pods int) int { return max(1, pods/cmp.Or(s.share, 1)) }

// jobs returns the number of Jobs with this number of pods in total.
func (s shape) jobs(pods int) int { return max(1, pods/cmp.Or(s.podsOf, pods)) }

// job returns one of the Jobs.
func (s shape) job(pods int, managedBy *string) *batchv1.Job {
	pods /= s.jobs(pods)
	number, active := int32(pods), int32(s.active(pods)) //nolint:gosec // at most 100,000
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "job-"},
		Spec: batchv1.JobSpec{
			CompletionMode: new(batchv1.IndexedCompletion), Completions: &number, Parallelism: &active,
			BackoffLimitPerIndex: s.retries, MaxFailedIndexes: s.failures, PodFailurePolicy: s.policy, ManagedBy: managedBy,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: container, Image: "image"}},
			}},
		},
	}
}

// running returns the status of a pod that is ready.
func running() corev1.PodStatus {
	return corev1.PodStatus{
		Phase:             corev1.PodRunning,
		Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: container, Ready: true}},
	}
}

// terminated returns the status of a pod whose container has ended.
func terminated(phase corev1.PodPhase, code int32) corev1.PodStatus {
	return corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{
		Name:  container,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}},
	}}}
}

// unmatched returns a policy in which every rule is evaluated for every pod, and none matches.
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
