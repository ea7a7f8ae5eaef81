package manifest

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/internal/kube/jobdefaults"
)

// Stored returns the Job as the API server would store it, and as rules in CEL see it in a cluster: with the API's
// defaults and in its namespace. The original Job is not changed.
func (j Job) Stored() *batchv1.Job {
	job := j.Object.DeepCopy()
	job.Namespace = j.Reference().Namespace
	jobdefaults.Set(job)
	return job
}
