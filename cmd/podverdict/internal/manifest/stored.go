package manifest

import (
	"cmp"
	"math"

	batchv1 "k8s.io/api/batch/v1"
)

// Stored is the Job as the API server would store it: in the given namespace if it names none, and with the defaults of
// batch/v1 (pkg/apis/batch/v1/defaults.go), as rules in CEL see it in a cluster. The Job as written is not changed.
func (j Job) Stored(namespace string) *batchv1.Job {
	job := *j.Object
	job.Namespace = cmp.Or(job.Namespace, namespace)
	if len(job.Labels) == 0 {
		job.Labels = job.Spec.Template.Labels
	}
	spec := &job.Spec
	if spec.Completions == nil && spec.Parallelism == nil {
		spec.Completions = new(int32(1))
	}
	unset(&spec.Parallelism, 1)
	if spec.BackoffLimitPerIndex != nil {
		unset(&spec.BackoffLimit, math.MaxInt32)
	}
	unset(&spec.BackoffLimit, 6)
	unset(&spec.CompletionMode, batchv1.NonIndexedCompletion)
	unset(&spec.Suspend, false)
	unset(&spec.ManualSelector, false)
	if spec.PodFailurePolicy != nil {
		unset(&spec.PodReplacementPolicy, batchv1.Failed)
	}
	unset(&spec.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	return &job
}

// unset gives a field that is not set its default.
func unset[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
