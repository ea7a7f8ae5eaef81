// Package jobdefaults sets the defaults that the API server sets when a Job is created (pkg/apis/batch/v1/defaults.go). It
// omits the defaults of containers and volumes, because no decision of podverdict depends on them.
//
// Tests compare it with the API server (cmd/podverdict) and with the Rego rules that apply the same defaults (policies).
package jobdefaults

import (
	"maps"
	"math"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

const (
	// BackoffLimit is the default for spec.backoffLimit.
	BackoffLimit = 6
	// BackoffLimitPerIndex is the default for spec.backoffLimit if backoffLimitPerIndex is set.
	BackoffLimitPerIndex = math.MaxInt32
)

// Set sets the defaults of a Job. It is idempotent.
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
	Unset(&spec.Parallelism, 1)
	if spec.BackoffLimitPerIndex != nil {
		Unset(&spec.BackoffLimit, BackoffLimitPerIndex)
	}
	Unset(&spec.BackoffLimit, BackoffLimit)
	Unset(&spec.CompletionMode, batchv1.NonIndexedCompletion)
	Unset(&spec.Suspend, false)
	Unset(&spec.ManualSelector, false)
	if spec.PodFailurePolicy != nil {
		Unset(&spec.PodReplacementPolicy, batchv1.Failed)
		SetPolicy(spec.PodFailurePolicy)
	}
	Unset(&spec.PodReplacementPolicy, batchv1.TerminatingOrFailed)
}

// SetPolicy sets the defaults of a podFailurePolicy, which CronJobs have too: the status of a Pod condition pattern is True.
func SetPolicy(policy *batchv1.PodFailurePolicy) {
	for _, rule := range policy.Rules {
		for i := range rule.OnPodConditions {
			if pattern := &rule.OnPodConditions[i]; pattern.Status == "" {
				pattern.Status = corev1.ConditionTrue
			}
		}
	}
}

// Unset sets a field to its default if it is nil.
func Unset[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
