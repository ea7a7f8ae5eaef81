package controller

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// setOf compiles policies, each bound by a binding of the same name.
func setOf(t testing.TB, policies ...boundPolicy) *binding.Set {
	t.Helper()
	environment, err := custom.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	compiled := map[string]*runtime.CustomPolicy{}
	var bindings []*v1alpha1.PodFailurePolicyBinding
	for _, p := range policies {
		object := &v1alpha1.PodFailurePolicy{ObjectMeta: metav1.ObjectMeta{Name: p.name}, Spec: v1alpha1.PodFailurePolicySpec{Rules: p.rules}}
		object.SetDefaults()
		if compiled[p.name], err = runtime.NewCustomPolicy(environment, object); err != nil {
			t.Fatal(err)
		}
		b := &v1alpha1.PodFailurePolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: p.name}, Spec: v1alpha1.PodFailurePolicyBindingSpec{
			PolicyName: p.name, PendingPods: v1alpha1.PendingPodsDelete,
		}}
		if p.change != nil {
			p.change(&b.Spec)
		}
		b.SetDefaults()
		bindings = append(bindings, b)
	}
	set, err := binding.NewSet(compiled, bindings)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// boundPolicy is a policy and what its binding says, which is to delete pods unless change says otherwise.
type boundPolicy struct {
	name   string
	change func(*v1alpha1.PodFailurePolicyBindingSpec)
	rules  []v1alpha1.Rule
}

// What becomes of a pod depends on its phase, on whether it has the condition, and on what the policies say.
func TestDecidePending(t *testing.T) {
	always := v1alpha1.Rule{Name: "always", Phase: corev1.PodPending, When: "true", Action: batchv1.PodFailurePolicyActionIgnore}
	never, broken := always, always
	never.When, broken.When = "false", "pod.status.containerStatuses[5].name == ''"
	audit := func(s *v1alpha1.PodFailurePolicyBindingSpec) { s.Mode = v1alpha1.ModeAudit }
	const yes, no, withdrawn = corev1.ConditionTrue, corev1.ConditionStatus(""), corev1.ConditionFalse
	for name, c := range map[string]struct {
		policies []boundPolicy
		want     map[corev1.PodPhase]map[corev1.ConditionStatus]pendingStep // leave is left out
	}{
		"a rule matches": {[]boundPolicy{{"a", nil, []v1alpha1.Rule{always}}}, map[corev1.PodPhase]map[corev1.ConditionStatus]pendingStep{
			corev1.PodPending: {yes: pendingEnd, no: pendingEnd, withdrawn: pendingEnd}, corev1.PodRunning: {yes: pendingWithdraw},
		}},
		"none does": {[]boundPolicy{{"a", nil, []v1alpha1.Rule{never}}}, map[corev1.PodPhase]map[corev1.ConditionStatus]pendingStep{
			corev1.PodPending: {yes: pendingWithdraw}, corev1.PodRunning: {yes: pendingWithdraw},
		}},
		"nobody knows": {[]boundPolicy{{"a", nil, []v1alpha1.Rule{broken}}}, map[corev1.PodPhase]map[corev1.ConditionStatus]pendingStep{
			corev1.PodPending: {yes: pendingTell, no: pendingTell, withdrawn: pendingTell}, corev1.PodRunning: {yes: pendingWithdraw},
		}},
		"one does, for an audit": {[]boundPolicy{{"a", audit, []v1alpha1.Rule{always}}}, map[corev1.PodPhase]map[corev1.ConditionStatus]pendingStep{
			corev1.PodPending: {yes: pendingWithdraw, no: pendingAudit, withdrawn: pendingAudit}, corev1.PodRunning: {yes: pendingWithdraw},
		}},
		"nobody knows, in an audit": {[]boundPolicy{{"a", audit, []v1alpha1.Rule{broken}}}, map[corev1.PodPhase]map[corev1.ConditionStatus]pendingStep{
			corev1.PodPending: {yes: pendingWithdraw, no: pendingTell, withdrawn: pendingTell}, corev1.PodRunning: {yes: pendingWithdraw},
		}},
	} {
		selection := setOf(t, c.policies...).For(t.Context(), &batchv1.Job{}, nil)
		for _, phase := range []corev1.PodPhase{corev1.PodPending, corev1.PodRunning, corev1.PodFailed, corev1.PodSucceeded, corev1.PodUnknown} {
			for _, status := range []corev1.ConditionStatus{yes, no, withdrawn} {
				pod := &corev1.Pod{Status: corev1.PodStatus{Phase: phase}}
				if status != no {
					pod.Status.Conditions = []corev1.PodCondition{{Type: v1alpha1.FailingToStart, Status: status}}
				}
				want := pendingLeave
				if step, found := c.want[phase][status]; found {
					want = step
				}
				if got := decidePending(t.Context(), selection, custom.Input{Pod: pod, Now: time.Now()}); got.step != want {
					t.Errorf("%s, %s, condition %q: %s, want %s", name, phase, status, got.step, want)
				}
			}
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
		if got := atWork(c.job); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
