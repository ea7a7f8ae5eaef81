package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pods that may be judged are whole.
func TestTrimPod(t *testing.T) {
	full := corev1.PodSpec{
		NodeName: "node", Tolerations: []corev1.Toleration{{Key: "gpu"}},
		Containers: []corev1.Container{{Name: "main", Image: "main", Env: []corev1.EnvVar{{Name: "A"}}}},
	}
	less := corev1.PodSpec{NodeName: "node", InitContainers: []corev1.Container{}, Containers: []corev1.Container{{Name: "main", Image: "main"}}}
	now := metav1.Now()
	for _, test := range []struct {
		phase   corev1.PodPhase
		deleted *metav1.Time
		want    corev1.PodSpec
	}{
		{corev1.PodPending, nil, full},
		{corev1.PodPending, &now, full},
		{corev1.PodRunning, nil, less},
		{corev1.PodRunning, &now, full},
		{corev1.PodSucceeded, nil, less},
		{corev1.PodSucceeded, &now, less},
		{corev1.PodFailed, nil, full},
		{corev1.PodUnknown, nil, full},
	} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: test.deleted, Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: "{}"}},
			Spec:       *full.DeepCopy(), Status: corev1.PodStatus{Phase: test.phase},
		}
		pod = trimmed(pod)
		if diff := cmp.Diff(test.want, pod.Spec); diff != "" {
			t.Errorf("%s, deleted %v (-want +got):\n%s", test.phase, test.deleted != nil, diff)
		}
		if whole := len(pod.Spec.Tolerations) > 0; whole != (len(pod.Annotations) == 1) {
			t.Errorf("%s, deleted %v: the annotations are %v", test.phase, test.deleted != nil, pod.Annotations)
		}
	}
}

func TestTrimJob(t *testing.T) {
	for _, test := range []struct {
		name    string
		job     *batchv1.Job
		observe bool
		whole   bool
	}{
		{"managed", ownJob(nil), false, true},
		{"observed", othersJob(nil), true, true},
		{"of no interest", othersJob(nil), false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.job.Spec.Template.Spec.NodeName = "node"
			test.job.ManagedFields = []metav1.ManagedFieldsEntry{{}}
			_, _ = trimJob(test.observe)(test.job) // no error
			if whole := test.job.Spec.Template.Spec.NodeName != ""; whole != test.whole || test.job.ManagedFields != nil {
				t.Errorf("the template is %+v, managed fields are %v", test.job.Spec.Template, test.job.ManagedFields)
			}
		})
	}
}
