// Package jobdefaults sets the fields of a Job that the API server sets when the Job
// is created (pkg/apis/batch/v1/defaults.go). The defaults of its Pods' containers and
// volumes are left out: nothing here decides by them.
//
// Tests hold it equal to the API server (cmd/podverdict) and to the Rego rules that
// know the same defaults (policies).
package jobdefaults

import (
	"maps"
	"math"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

const (
	// BackoffLimit is how many failed Pods a Job may have that does not say.
	BackoffLimit = 6
	// BackoffLimitPerIndex is what BackoffLimit is in a Job with backoffLimitPerIndex.
	BackoffLimitPerIndex = math.MaxInt32
)

// Set sets the defaults of a Job. Setting them twice changes nothing more.
func Set(job *batchv1.Job) {
	if len(job.Labels) == 0 {
		job.Labels = maps.Clone(job.Spec.Template.Labels)
	}
	SetSpec(&job.Spec)
}

// SetSpec sets the defaults within a Job's spec.
func SetSpec(spec *batchv1.JobSpec) {
	if spec.Completions == nil && spec.Parallelism == nil {
		spec.Completions = new(int32(1))
	}
	unset(&spec.Parallelism, 1)
	if spec.BackoffLimitPerIndex != nil {
		unset(&spec.BackoffLimit, BackoffLimitPerIndex)
	}
	unset(&spec.BackoffLimit, BackoffLimit)
	unset(&spec.CompletionMode, batchv1.NonIndexedCompletion)
	unset(&spec.Suspend, false)
	unset(&spec.ManualSelector, false)
	if spec.PodFailurePolicy != nil {
		unset(&spec.PodReplacementPolicy, batchv1.Failed)
		SetPolicy(spec.PodFailurePolicy)
	}
	unset(&spec.PodReplacementPolicy, batchv1.TerminatingOrFailed)
}

// SetPolicy sets the defaults within a podFailurePolicy, which CronJobs have too:
// patterns of Pod conditions without a status want True.
func SetPolicy(policy *batchv1.PodFailurePolicy) {
	for _, rule := range policy.Rules {
		for i := range rule.OnPodConditions {
			if pattern := &rule.OnPodConditions[i]; pattern.Status == "" {
				pattern.Status = corev1.ConditionTrue
			}
		}
	}
}

// unset gives a field that is not set its default.
func unset[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
