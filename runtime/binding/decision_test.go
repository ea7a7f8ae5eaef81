package binding_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// The decision on a pod depends on its phase, its condition, and the policies.
func TestDecidePending(t *testing.T) {
	const (
		leave, end, withdraw = binding.LeavePending, binding.EndPending, binding.WithdrawPending
		audited, tell        = binding.AuditPending, binding.TellPending
		yes, no, withdrawn   = corev1.ConditionTrue, corev1.ConditionStatus(""), corev1.ConditionFalse
	)
	type specChange = func(*v1alpha1.PodFailurePolicyBindingSpec)
	const always, never, broken = "true", "false", "pod.status.containerStatuses[5].name == ''"
	for name, c := range map[string]struct {
		when    string
		binding []specChange
		want    map[corev1.PodPhase]map[corev1.ConditionStatus]binding.PendingStep // leave is left out
	}{
		"a rule matches": {always, nil, map[corev1.PodPhase]map[corev1.ConditionStatus]binding.PendingStep{
			corev1.PodPending: {yes: end, no: end, withdrawn: end}, corev1.PodRunning: {yes: withdraw},
		}},
		"none does": {never, nil, map[corev1.PodPhase]map[corev1.ConditionStatus]binding.PendingStep{
			corev1.PodPending: {yes: withdraw}, corev1.PodRunning: {yes: withdraw},
		}},
		"nobody knows": {broken, nil, map[corev1.PodPhase]map[corev1.ConditionStatus]binding.PendingStep{
			corev1.PodPending: {yes: tell, no: tell, withdrawn: tell}, corev1.PodRunning: {yes: withdraw},
		}},
		"one does, for an audit": {always, []specChange{audit}, map[corev1.PodPhase]map[corev1.ConditionStatus]binding.PendingStep{
			corev1.PodPending: {yes: withdraw, no: audited, withdrawn: audited}, corev1.PodRunning: {yes: withdraw},
		}},
		"nobody knows, in an audit": {broken, []specChange{audit}, map[corev1.PodPhase]map[corev1.ConditionStatus]binding.PendingStep{
			corev1.PodPending: {yes: withdraw, no: tell, withdrawn: tell}, corev1.PodRunning: {yes: withdraw},
		}},
	} {
		set, err := binding.NewSet(byName(pendingPolicy(t, "a", c.when)),
			[]*v1alpha1.PodFailurePolicyBinding{bindingOf("1", "a", append(c.binding, deletes)...)})
		if err != nil {
			t.Fatal(err)
		}
		selection := set.For(t.Context(), &batchv1.Job{}, nil)
		for _, phase := range []corev1.PodPhase{corev1.PodPending, corev1.PodRunning, corev1.PodFailed, corev1.PodSucceeded, corev1.PodUnknown} {
			for _, status := range []corev1.ConditionStatus{yes, no, withdrawn} {
				pod := &corev1.Pod{Status: corev1.PodStatus{Phase: phase}}
				if status != no {
					pod.Status.Conditions = []corev1.PodCondition{{Type: v1alpha1.FailingToStart, Status: status}}
				}
				want := leave
				if step, found := c.want[phase][status]; found {
					want = step
				}
				if got := selection.DecidePending(t.Context(), runtime.Input{Pod: pod, Now: time.Now()}); got.Step != want {
					t.Errorf("%s, %s, condition %q: %s, want %s", name, phase, status, got.Step, want)
				}
			}
		}
	}
}

// A rule that cannot be evaluated, and is ignored, lets an audit go on, but not about a pod that is marked already: nobody knows
// whether the mark is to be taken back.
func TestDecidePendingAfterAnIgnoredError(t *testing.T) {
	set, err := binding.NewSet(byName(policyOnBoth(t, v1alpha1.FailurePolicyIgnore, "true", noSuchKey), pendingPolicy(t, "a", "true")),
		[]*v1alpha1.PodFailurePolicyBinding{bindingOf("1", "platform", deletes), bindingOf("2", "a", deletes, audit)})
	if err != nil {
		t.Fatal(err)
	}
	selection := set.For(t.Context(), &batchv1.Job{}, nil)
	for status, want := range map[corev1.ConditionStatus]binding.PendingStep{
		corev1.ConditionTrue: binding.TellPending, corev1.ConditionFalse: binding.AuditPending,
	} {
		pod := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: v1alpha1.FailingToStart, Status: status}}}}
		if got := selection.DecidePending(t.Context(), runtime.Input{Pod: pod, Attempt: 1}); got.Step != want || got.Verdict.Err == nil {
			t.Errorf("condition %s: %s, %v; want %s with an error", status, got.Step, got.Verdict.Err, want)
		}
	}
}

func TestAtWork(t *testing.T) {
	condition := func(kind batchv1.JobConditionType, status corev1.ConditionStatus) *batchv1.Job {
		return &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: kind, Status: status}}}}
	}
	for name, c := range map[string]struct {
		job  *batchv1.Job
		want bool
	}{
		"new":           {&batchv1.Job{}, true},
		"suspended":     {&batchv1.Job{Spec: batchv1.JobSpec{Suspend: new(true)}}, false},
		"resumed":       {&batchv1.Job{Spec: batchv1.JobSpec{Suspend: new(false)}}, true},
		"being deleted": {&batchv1.Job{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: new(metav1.Now())}}, false},
		"complete":      {condition(batchv1.JobComplete, corev1.ConditionTrue), false},
		"failed":        {condition(batchv1.JobFailed, corev1.ConditionTrue), false},
		"failing":       {condition(batchv1.JobFailureTarget, corev1.ConditionTrue), false},
		"succeeding":    {condition(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue), false},
		"not failing":   {condition(batchv1.JobFailureTarget, corev1.ConditionFalse), true},
		"was suspended": {condition(batchv1.JobSuspended, corev1.ConditionTrue), true},
	} {
		if got := binding.AtWork(c.job); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
