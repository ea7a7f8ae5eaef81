package simulation

import (
	"cmp"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/kube/jobdefaults"
)

// epoch is the creation time of every simulated Job.
var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// created returns the Job as the API server would store it. It sets only the fields that matter to the simulation.
func created(given *batchv1.Job) *batchv1.Job {
	job := given.DeepCopy()
	job.Name = cmp.Or(job.Name, strings.TrimRight(job.GenerateName, "-."), "job")
	job.Namespace = cmp.Or(job.Namespace, metav1.NamespaceDefault)
	job.UID = cmp.Or(job.UID, "00000000-0000-0000-0000-000000000000")
	job.ResourceVersion = "1"
	job.CreationTimestamp = metav1.NewTime(epoch)
	job.DeletionTimestamp = nil
	job.Status = batchv1.JobStatus{}
	jobdefaults.Set(job)
	if job.Spec.Template.Spec.TerminationGracePeriodSeconds == nil {
		job.Spec.Template.Spec.TerminationGracePeriodSeconds = new(int64(corev1.DefaultTerminationGracePeriodSeconds))
	}
	return job
}
