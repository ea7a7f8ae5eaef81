package manifest

import (
	"cmp"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/internal/jobdefaults"
)

// Stored returns the Job as the API server would store it, and as rules in CEL see it in a cluster: with the API's
// defaults, and in the given namespace if it names none. The Job as written is not changed.
func (j Job) Stored(namespace string) *batchv1.Job {
	job := j.Object.DeepCopy()
	job.Namespace = cmp.Or(job.Namespace, namespace)
	jobdefaults.Set(job)
	return job
}
