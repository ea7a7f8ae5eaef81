package running

import (
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
)

// TestOrphans checks that the controller's pods without a Job are released, and that all others are left unchanged.
func TestOrphans(t *testing.T) {
	job := fixtures.ManagedJob(1)
	job.Namespace, job.UID = "ns", "job-uid"
	made := plan.Next(plan.Observation{Job: job, Current: true}).Create[0]
	with := func(change func(*corev1.Pod)) *corev1.Pod {
		pod := made.DeepCopy()
		pod.ResourceVersion = "1"
		change(pod)
		return pod
	}
	for _, test := range []struct {
		name         string
		pod          *corev1.Pod
		cached, live types.UID // UIDs of the Job, empty if it does not exist
		want         bool
	}{
		{"the Job is gone", with(func(*corev1.Pod) {}), "", "", true},
		{"the Job is there", with(func(*corev1.Pod) {}), "job-uid", "job-uid", false},
		{"the cache does not show the Job", with(func(*corev1.Pod) {}), "", "job-uid", false},
		{"a new Job has the name", with(func(*corev1.Pod) {}), "new-uid", "new-uid", true},
		{"the pod was taken from the Job", with(func(p *corev1.Pod) { p.OwnerReferences = nil }), "job-uid", "job-uid", true},
		{"the pod is not held", with(func(p *corev1.Pod) { p.Finalizers = nil }), "", "", false},
		{"kube-controller-manager's pod", with(func(p *corev1.Pod) { p.Name = "train-0-x7k2p" }), "", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			api := fake.NewClientset(test.pod)
			caches, err := caches.New(api, "", false)
			fixtures.Put(t, err)
			fixtures.Put(t, caches.Pods.Add(test.pod))
			if test.cached != "" {
				fixtures.Put(t, caches.Jobs.Add(jobOfUID(job, test.cached)))
			}
			if test.live != "" {
				fixtures.Put(t, api.Tracker().Add(jobOfUID(job, test.live)))
			}
			o := &orphans{client: api, caches: caches}
			_, err = o.sync(t.Context(), types.NamespacedName{Namespace: "ns", Name: test.pod.Name})
			fixtures.Put(t, err)
			pod, err := api.CoreV1().Pods("ns").Get(t.Context(), test.pod.Name, metav1.GetOptions{})
			fixtures.Put(t, err)
			held := slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer)
			if released := len(test.pod.Finalizers) > 0 && !held; released != test.want {
				t.Errorf("released is %t", released)
			}
		})
	}
}

func jobOfUID(job *batchv1.Job, uid types.UID) *batchv1.Job {
	other := job.DeepCopy()
	other.UID = uid
	return other
}
