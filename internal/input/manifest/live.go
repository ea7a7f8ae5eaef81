package manifest

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/podverdict/podverdict/internal/kube/jobset"
)

// LiveJob returns a Job read from a cluster. Positions in it have no lines.
func LiveJob(job *batchv1.Job) Job {
	return Job{Object: job, Origin: live("job", job)}
}

// LiveCronJob returns the Job that a CronJob in a cluster creates.
func LiveCronJob(cronJob *batchv1.CronJob) Job {
	return Job{Object: made(cronJob), Origin: live("cronjob", cronJob).at(inCronJob), CronJob: cronJob, Template: inCronJob}
}

// OfJobSet returns a Job from a cluster as a child of the given JobSet; the Job's labels name the replicatedJob.
func OfJobSet(job Job, set *v1alpha2.JobSet) Job {
	jobset.SetDefaults(set)
	job.JobSet, job.ReplicatedJob = set, job.Object.Labels[v1alpha2.ReplicatedJobNameKey]
	return job
}

// LivePod returns a Pod read from a cluster.
func LivePod(pod *corev1.Pod) Pod {
	return Pod{Object: pod, Origin: live("pod", pod)}
}

func live(kind string, object metav1.Object) Origin {
	name := fmt.Sprintf("%s/%s in namespace %s", kind, object.GetName(), object.GetNamespace())
	return Origin{Document: &Document{File: name}}
}

// Live reports whether the object was read from a cluster: positions within it have no line.
func (o Origin) Live() bool { return o.Document.Line == 0 }

// made returns the Job that a CronJob creates. It has the CronJob's name; Jobs in clusters have a number appended.
func made(cronJob *batchv1.CronJob) *batchv1.Job {
	job := &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: cronJob.Spec.JobTemplate.ObjectMeta,
		Spec:       cronJob.Spec.JobTemplate.Spec,
	}
	job.Name, job.Namespace = cronJob.Name, cronJob.Namespace
	return job
}
