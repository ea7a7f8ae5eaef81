package conformance_test

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/internal/kube/jobdefaults"
)

// withDefaults returns a Job as the API server passes it to policies, with the defaults that constraints, the edits of the
// generator and the vectors can distinguish.
func withDefaults(job *batchv1.Job) *batchv1.Job {
	job = job.DeepCopy()
	jobdefaults.SetSpec(&job.Spec)
	withTemplateDefaults(&job.Spec.Template.Spec)
	return job
}

func setAbsent[T any](member **T, value T) {
	if *member == nil {
		*member = &value
	}
}

func withTemplateDefaults(s *corev1.PodSpec) {
	s.DNSPolicy, s.SchedulerName = corev1.DNSClusterFirst, corev1.DefaultSchedulerName
	setAbsent(&s.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	setAbsent(&s.SecurityContext, corev1.PodSecurityContext{})
	for _, v := range s.Volumes {
		if v.ConfigMap != nil {
			setAbsent(&v.ConfigMap.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
		}
	}
	for i := range s.Containers {
		c := &s.Containers[i]
		c.TerminationMessagePath, c.TerminationMessagePolicy = corev1.TerminationMessagePathDefault, corev1.TerminationMessageReadFile
		if c.ImagePullPolicy == "" {
			c.ImagePullPolicy = pullPolicy(c.Image)
		}
	}
}

// pullPolicy returns the default pull policy of an image whose registry has no port.
func pullPolicy(image string) corev1.PullPolicy {
	name, _, digest := strings.Cut(image, "@")
	if strings.HasSuffix(name, ":latest") || !digest && !strings.Contains(name, ":") {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}
