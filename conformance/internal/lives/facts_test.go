package lives

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestFacts(t *testing.T) {
	controller := true
	held := metav1.ObjectMeta{
		Namespace: "n", Name: "j-x", Finalizers: []string{batchv1.JobTrackingFinalizer},
		Labels:          map[string]string{"job-name": "j", "controller-uid": "job-uid"},
		Annotations:     map[string]string{"batch.kubernetes.io/job-completion-index": "2", "podverdict.io/other": ""},
		OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Name: "j", UID: "job-uid", Controller: &controller}},
	}
	pods := []*observedPod{
		{of: Pod{Slot: 2, Attempt: 1}, Pod: &corev1.Pod{ObjectMeta: held, Status: corev1.PodStatus{Phase: corev1.PodFailed}}},
		{of: Pod{Slot: 3}, gone: true, Pod: &corev1.Pod{}},
		{of: Pod{Slot: 4}, Pod: &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "j-y", DeletionTimestamp: new(metav1.Now())},
			Status:     corev1.PodStatus{Phase: corev1.PodRunning},
		}},
	}
	job := &batchv1.Job{Status: batchv1.JobStatus{
		StartTime: new(metav1.Now()),
		Failed:    2, Ready: new(int32), FailedIndexes: new("2"),
		UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{Failed: []types.UID{"a", "b"}, Succeeded: []types.UID{"c"}},
		Conditions:              []batchv1.JobCondition{{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, Message: "pod n/j-x failed"}},
	}}
	want := Facts{
		Status: &Status{
			Conditions: []Condition{{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, Message: "pod {2/1} failed"}},
			Started:    true, Failed: 2, Ready: new(int32), FailedIndexes: new("2"), Uncounted: 3,
		},
		Pods: map[string]string{"2/1": "Failed", "3": "gone", "4": "Running, terminating"},
	}
	if diff := cmp.Diff(want, factsOf(job, pods, nil)); diff != "" {
		t.Errorf("a Job at work: -want +got:\n%s", diff)
	}

	job.Status.Conditions[0].Type, want.Status.Conditions[0].Type = batchv1.JobFailed, batchv1.JobFailed
	want.Held = []string{"2/1"}
	if diff := cmp.Diff(want, factsOf(job, pods, nil)); diff != "" {
		t.Errorf("a Job that has ended: -want +got:\n%s", diff)
	}

	want.Status, want.Job = nil, "gone"
	want.Details = map[string]PodDetails{
		"2/1": {
			Labels:      map[string]string{"job-name": "j", "controller-uid": "uid"},
			Annotations: map[string]string{"batch.kubernetes.io/job-completion-index": "2"},
			Owner:       &metav1.OwnerReference{Kind: "Job", Name: "j", UID: "uid", Controller: &controller},
		},
		"4": {Labels: map[string]string{}, Annotations: map[string]string{}},
	}
	if diff := cmp.Diff(want, factsOf(nil, pods, []Detail{DetailAnnotations, DetailLabels, DetailOwner})); diff != "" {
		t.Errorf("a Job that is gone: -want +got:\n%s", diff)
	}
}
