package simulation

import (
	"cmp"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// epoch is when every simulated Job is created.
var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// created is the Job as the API server stores it when it is created (pkg/apis/batch/v1/defaults.go), as far as the fields
// matter here.
func created(given *batchv1.Job) *batchv1.Job {
	job := given.DeepCopy()
	job.Name = cmp.Or(job.Name, strings.TrimRight(job.GenerateName, "-."), "job")
	job.Namespace = cmp.Or(job.Namespace, metav1.NamespaceDefault)
	job.UID = cmp.Or(job.UID, "00000000-0000-0000-0000-000000000000")
	job.ResourceVersion = "1"
	job.CreationTimestamp = metav1.NewTime(epoch)
	job.DeletionTimestamp = nil
	job.Status = batchv1.JobStatus{}
	setDefaults(&job.Spec)
	return job
}

func setDefaults(spec *batchv1.JobSpec) {
	if spec.Completions == nil && spec.Parallelism == nil {
		spec.Completions = new(int32(1))
	}
	unset(&spec.Parallelism, 1)
	unset(&spec.CompletionMode, batchv1.NonIndexedCompletion)
	unset(&spec.Suspend, false)
	unset(&spec.Template.Spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	if spec.BackoffLimitPerIndex != nil {
		unset(&spec.BackoffLimit, 1<<31-1)
	}
	unset(&spec.BackoffLimit, 6)
	if spec.PodFailurePolicy != nil {
		unset(&spec.PodReplacementPolicy, batchv1.Failed)
	}
	unset(&spec.PodReplacementPolicy, batchv1.TerminatingOrFailed)
}

// unset gives a field that is not set its default.
func unset[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
