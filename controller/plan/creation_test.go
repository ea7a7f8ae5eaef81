package plan

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestCreatedPod(t *testing.T) {
	b := perIndex(4, 2, 1).started().with(func(j *batchv1.Job) {
		j.Spec.Template.Annotations = map[string]string{"note": "x", batchv1.JobCompletionIndexAnnotation: "99"}
		j.Spec.Template.Finalizers = []string{"example.com/mine", batchv1.JobTrackingFinalizer}
		j.Spec.Template.Spec.Containers = append(j.Spec.Template.Spec.Containers,
			corev1.Container{Name: "other", Env: []corev1.EnvVar{{Name: "JOB_COMPLETION_INDEX", Value: "mine"}}})
	})
	o := seen(b, 60, podOf(b, 0, 0).failures(0).exited(1, 1), podOf(b, 1, 0))
	p := planned(t, o)
	if len(p.Create) != 1 {
		t.Fatalf("%d pods are created", len(p.Create))
	}
	variable := corev1.EnvVar{Name: "JOB_COMPLETION_INDEX", ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']"},
	}}
	want := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: newNamer(o.Job).name(0, 1),
			Labels: map[string]string{
				"app": "train", "batch.kubernetes.io/job-completion-index": "0", "batch.kubernetes.io/controller-uid": "job-uid",
				"podverdict.io/attempt": "2",
			},
			Annotations: map[string]string{
				"note": "x", "batch.kubernetes.io/job-completion-index": "0", "batch.kubernetes.io/job-index-failure-count": "1",
			},
			Finalizers: []string{"example.com/mine", "batch.kubernetes.io/job-tracking"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "batch/v1", Kind: "Job", Name: "train", UID: "job-uid", Controller: new(true), BlockOwnerDeletion: new(true),
			}},
		},
		Spec: corev1.PodSpec{
			Hostname: "train-0", RestartPolicy: corev1.RestartPolicyNever,
			InitContainers: []corev1.Container{{Name: "prepare", Env: []corev1.EnvVar{variable}}},
			Containers: []corev1.Container{
				{Name: "main", Env: []corev1.EnvVar{variable}},
				{Name: "other", Env: []corev1.EnvVar{{Name: "JOB_COMPLETION_INDEX", Value: "mine"}}},
			},
		},
	}
	if diff := cmp.Diff(want, p.Create[0]); diff != "" {
		t.Error(diff)
	}
	if _, spoilt := o.Job.Spec.Template.Labels[batchv1.JobCompletionIndexAnnotation]; spoilt {
		t.Error("the Job's template is changed")
	}
}

// TestCreatedPodWithoutIndex tests that pods of a Job without indexes have no index, but labels for slot and attempt.
func TestCreatedPodWithoutIndex(t *testing.T) {
	p := planned(t, seen(nonIndexed(1, 1).started(), 0)).Create[0]
	labels := map[string]string{
		"app": "train", "batch.kubernetes.io/controller-uid": "job-uid", "podverdict.io/slot": "0", "podverdict.io/attempt": "1",
	}
	if p.Spec.Hostname != "" || len(p.Annotations) > 0 || len(p.Spec.Containers[0].Env) > 0 || !maps.Equal(p.Labels, labels) {
		t.Errorf("pod is %+v", p)
	}
}

func TestTakenNames(t *testing.T) {
	b := nonIndexed(1, 1).started()
	o := seen(b, 0)
	o.Taken = map[string]bool{newNamer(o.Job).name(0, 0): true, newNamer(o.Job).name(0, 1): true}
	if got := slotsAndAttempts(o.Job, planned(t, o).Create); !slices.Equal(got, []string{"0/2"}) {
		t.Errorf("created are %v", got)
	}
}

func TestSettingsByAnnotation(t *testing.T) {
	ni := nonIndexed(9, 1).started()
	onFailure := ni.with(func(j *batchv1.Job) { j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure })
	failed := func() []podBuilder {
		return []podBuilder{podOf(ni, 0, 0).exited(1, 1), podOf(ni, 0, 1).exited(1, 2), podOf(ni, 0, 2).exited(1, 3)}
	}
	runAll(t, []behaviour{
		{name: "backoff", job: ni.annotated(BackoffSecondsAnnotation, "2"), pods: failed()[:2], second: 2, want: want{lookAgain: 4}},
		{name: "backoff above the cap", job: ni.annotated(BackoffSecondsAnnotation, "3600"), pods: failed()[:2], second: 2, want: want{lookAgain: 3600}},
		{name: "backoff is not for OnFailure", job: onFailure.annotated(BackoffSecondsAnnotation, "2"), pods: failed()[:2], second: 2, want: want{lookAgain: 20}},
		{name: "all failed pods are kept", job: ni, pods: failed(), second: 3, want: want{lookAgain: 40}},
		{name: "one is", job: ni.annotated(FailedPodsLimitAnnotation, "1"), pods: failed(), second: 3,
			want: want{del: []string{"0/0", "0/1"}, lookAgain: 40, status: numbers(0, 0, 3)}},
		{name: "none is", job: ni.annotated(FailedPodsLimitAnnotation, "0"), pods: failed()[:1], second: 1, want: want{del: []string{"0/0"}, lookAgain: 10}},
		{name: "a limit is not for OnFailure", job: onFailure.annotated(FailedPodsLimitAnnotation, "0"), pods: failed()[:1], second: 1, want: want{lookAgain: 10}},
		{name: "a donor is kept", job: perIndex(1, 1, 5).started().annotated(FailedPodsLimitAnnotation, "0"), second: 4,
			pods: []podBuilder{podOf(perIndex(1, 1, 5), 0, 0).failures(0).exited(1, 1), podOf(perIndex(1, 1, 5), 0, 1).failures(1).exited(1, 3)},
			want: want{del: []string{"0/0"}, lookAgain: 19, status: numbers(0, 0, 1)}},
		{name: "after the end, too", job: ni.annotated(FailedPodsLimitAnnotation, "0").condition(batchv1.JobFailed, corev1.ConditionTrue, "R", "M"),
			pods: failed()[:1], want: want{del: []string{"0/0"}, release: []string{"0/0"}}},
	})
}

func TestSettingsInError(t *testing.T) {
	for _, text := range []string{"", "x", "0", "-1", "1.5", "86401", "99999999999999999999", " 5"} {
		j := nonIndexed(2, 1).annotated(BackoffSecondsAnnotation, text)
		problems := CheckAnnotations(j.j)
		if len(problems) != 1 || !strings.Contains(problems[0].Error(), "metadata.annotations["+BackoffSecondsAnnotation+"]: Invalid value: ") {
			t.Errorf("%q: problems are %v", text, problems)
		}
		p := planned(t, seen(j, 1, podOf(j, 0, 0).exited(1, 1)))
		if len(p.Problems) != 1 || p.LookAgain.Seconds() != 10 {
			t.Errorf("%q: problems are %v, the delay is %v", text, p.Problems, p.LookAgain)
		}
		if last := p.Events[len(p.Events)-1]; last.Type != corev1.EventTypeWarning || last.Reason != ReasonInvalidAnnotation {
			t.Errorf("%q: events are %v", text, p.Events)
		}
	}
	both := nonIndexed(2, 1).annotated(BackoffSecondsAnnotation, "x").annotated(FailedPodsLimitAnnotation, "y")
	if problems := CheckAnnotations(both.j); len(problems) != 2 {
		t.Errorf("problems are %v", problems)
	}
	if problems := CheckAnnotations(nonIndexed(2, 1).j); problems != nil {
		t.Errorf("problems are %v", problems)
	}
}

func TestUnknownCompletionMode(t *testing.T) {
	p := Next(seen(nonIndexed(1, 1).with(func(j *batchv1.Job) { j.Spec.CompletionMode = new(batchv1.CompletionMode("Odd")) }), 0))
	if len(p.Events) != 1 || p.Events[0].Reason != "UnknownCompletionMode" || p.Write != nil || p.Create != nil {
		t.Errorf("the Plan is %+v", p)
	}
}

// TestMaxCreate tests the maximum number of pods that a Plan creates; slots that wait for their delay do not count.
func TestMaxCreate(t *testing.T) {
	b := perIndex(10, 10, 2).started()
	o := seen(b, 5, podOf(b, 0, 0).failures(0).exited(1, 4), podOf(b, 1, 0).failures(0).exited(1, 4))
	o.Settings.MaxCreate = 3
	if got := slotsAndAttempts(o.Job, planned(t, o).Create); !slices.Equal(got, []string{"2/0", "3/0", "4/0"}) {
		t.Errorf("created are %v", got)
	}
}
