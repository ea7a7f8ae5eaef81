package controller

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// fullPod has all that pods have.
func fullPod(phase corev1.PodPhase, deleted *metav1.Time) *corev1.Pod {
	now := metav1.Now()
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			DeletionTimestamp: deleted, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: Name}},
			Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: "{}", batchv1.JobCompletionIndexAnnotation: "3"},
			Labels:      map[string]string{"app": "train", batchv1.ControllerUidLabel: "uid"},
			OwnerReferences: []metav1.OwnerReference{
				{Kind: "Set", Name: "other"}, {APIVersion: "batch/v1", Kind: "Job", Name: "train", UID: "uid", Controller: new(true)},
			},
		},
		Spec: corev1.PodSpec{
			NodeName: "node", RestartPolicy: corev1.RestartPolicyNever, Tolerations: []corev1.Toleration{{Key: "gpu"}},
			InitContainers: []corev1.Container{{Name: "init"}, {Name: "sidecar", Image: "log", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}},
			Containers:     []corev1.Container{{Name: "main", Image: "main", Env: []corev1.EnvVar{{Name: "A"}}}},
		},
		Status: corev1.PodStatus{
			Phase: phase, Message: "a message",
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionTrue, Message: "ready", LastTransitionTime: now},
				{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, LastTransitionTime: now},
				{Type: v1alpha1.FailingToStart, Status: corev1.ConditionTrue, Reason: "Image", Message: "why"},
			},
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: "main", Image: "main", ImageID: "sha256:1", RestartCount: 2, Resources: &corev1.ResourceRequirements{},
				State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Message: "a message", FinishedAt: now}},
			}},
		},
	}
}

// A pod that rules may be asked about is whole while custom policies are in force. All others have what the Plan and a
// podFailurePolicy look at, and say that they are not whole if somebody might take them for that.
func TestTrimPod(t *testing.T) {
	now := metav1.Now()
	for _, test := range []struct {
		phase   corev1.PodPhase
		deleted *metav1.Time
		judged  bool
	}{
		{corev1.PodPending, nil, true},
		{corev1.PodPending, &now, true},
		{corev1.PodRunning, nil, false},
		{corev1.PodRunning, &now, true},
		{corev1.PodSucceeded, nil, false},
		{corev1.PodSucceeded, &now, false},
		{corev1.PodFailed, nil, true},
		{corev1.PodUnknown, nil, true},
	} {
		for _, whole := range []bool{false, true} {
			caching := &caching{}
			caching.whole.Store(whole)
			pod, full := fullPod(test.phase, test.deleted), fullPod(test.phase, test.deleted)
			caching.trimPod(pod)
			caching.whole.Store(true) // as it may be when it comes again
			caching.trimPod(pod)
			full.ManagedFields = nil
			if whole && test.judged {
				if diff := cmp.Diff(full, pod, cmpopts.EquateApproxTime(time.Second)); diff != "" {
					t.Errorf("%s, deleted %v (-want +got):\n%s", test.phase, test.deleted != nil, diff)
				}
				continue
			}
			if partial(pod) != test.judged {
				t.Errorf("%s, deleted %v: partial %t", test.phase, test.deleted != nil, partial(pod))
			}
			expectSkeleton(t, pod, test.judged)
		}
	}
}

func expectSkeleton(t *testing.T, pod *corev1.Pod, judged bool) {
	t.Helper()
	want := fullPod(pod.Status.Phase, pod.DeletionTimestamp)
	delete(want.Annotations, corev1.LastAppliedConfigAnnotation)
	delete(want.Labels, "app")
	want.OwnerReferences, want.ManagedFields = want.OwnerReferences[1:], pod.ManagedFields
	want.Spec.InitContainers = want.Spec.InitContainers[1:]
	want.Spec.InitContainers[0].Image = ""
	want.Spec.Containers, want.Spec.Tolerations = nil, nil
	s := &want.Status
	s.Message, s.Conditions[0].Message = "", ""
	if !judged {
		s.Conditions = slices.Delete(s.Conditions, 1, 2)
	}
	c := &s.ContainerStatuses[0]
	c.Image, c.ImageID, c.Resources, c.State.Terminated.Message = "", "", nil, ""
	if diff := cmp.Diff(want, pod, cmpopts.EquateApproxTime(time.Minute)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", pod.Status.Phase, diff)
	}
}

func TestTrimJob(t *testing.T) {
	for _, test := range []struct {
		name             string
		job              *batchv1.Job
		observe, inForce bool
		whole            bool
	}{
		{"managed", ownJob(nil), false, false, true},
		{"observed", othersJob(failJobOn(1)), true, false, false},
		{"observed by custom policies", othersJob(failJobOn(1)), true, true, true},
		{"of no interest", othersJob(failJobOn(1)), false, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			caching := &caching{observe: test.observe}
			caching.whole.Store(test.inForce)
			test.job.Spec.Template.Spec.NodeName = "node"
			test.job.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: Name}}
			policy := test.job.Spec.PodFailurePolicy
			caching.trimJob(test.job)
			caching.whole.Store(true)
			caching.trimJob(test.job)
			if whole := test.job.Spec.Template.Spec.NodeName != ""; whole != test.whole || partial(test.job) == test.whole {
				t.Errorf("the template is %+v, managed fields are %v", test.job.Spec.Template, test.job.ManagedFields)
			}
			if test.job.Spec.PodFailurePolicy != policy {
				t.Error("the podFailurePolicy is gone")
			}
		})
	}
}
