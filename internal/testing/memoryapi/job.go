package memoryapi

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/kube/jobdefaults"
)

// CreateJob stores a Job as if a user had created it, and returns the stored object.
func (s *Server) CreateJob(job *batchv1.Job) (*batchv1.Job, error) {
	return created(s, Jobs, job)
}

// Job returns a copy of the named Job, or nil.
func (s *Server) Job(namespace, name string) *batchv1.Job {
	return get[*batchv1.Job](s, Jobs, namespace, name)
}

// ChangeJob changes a Job without validation. It does nothing if the Job does not exist.
func (s *Server) ChangeJob(namespace, name string, change func(*batchv1.Job)) {
	edit(s, Jobs, namespace, name, change)
}

// DeleteJob deletes a Job, as with propagation policy Background or Orphan.
func (s *Server) DeleteJob(namespace, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.erase(s.tables[Jobs], Call{Namespace: namespace, Name: name}, &metav1.DeleteOptions{})
	return err
}

// complete sets the API's defaults, the selector, and the labels of the pod template.
func complete(job *batchv1.Job) {
	jobdefaults.Set(job)
	spec := &job.Spec
	if spec.Template.Spec.RestartPolicy == "" {
		spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	}
	if *spec.ManualSelector {
		return
	}
	uid := string(job.UID)
	spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{batchv1.ControllerUidLabel: uid}}
	if spec.Template.Labels == nil {
		spec.Template.Labels = map[string]string{}
	}
	spec.Template.Labels[batchv1.ControllerUidLabel] = uid
	spec.Template.Labels[batchv1.JobNameLabel] = job.Name
}
