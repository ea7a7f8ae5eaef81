package binding_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// livingPolicy returns a policy with a rule for each phase of living pods.
func livingPolicy(t *testing.T, name, when string, failurePolicy v1alpha1.FailurePolicy) *runtime.Policy {
	t.Helper()
	environment, err := language()
	if err != nil {
		t.Fatal(err)
	}
	p := &v1alpha1.PodFailurePolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.PodFailurePolicySpec{FailurePolicy: failurePolicy}}
	for _, phase := range v1alpha1.LivingPhases {
		p.Spec.Rules = append(p.Spec.Rules, v1alpha1.Rule{Name: strings.ToLower(string(phase)), Phase: phase, When: when, Action: "FailJob"})
	}
	compiled, err := runtime.NewCustomPolicy(environment, p)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// inPhase returns a pod in a phase. The grace period of a Terminating pod is over.
func inPhase(phase corev1.PodPhase) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Status: corev1.PodStatus{Phase: phase}}
	if phase == v1alpha1.PhaseTerminating {
		pod.Status.Phase, pod.DeletionTimestamp = corev1.PodRunning, &metav1.Time{Time: time.Now().Add(-time.Minute)}
	}
	return pod
}

// TestDecideLiving checks that the decision on a pod depends on its phase, on the condition with the reason for ending it, and
// on the policies.
func TestDecideLiving(t *testing.T) {
	const (
		leave, end, withdraw, audited, tell = binding.LeaveLiving, binding.EndLiving, binding.WithdrawLiving, binding.AuditLiving, binding.TellLiving

		always, never, broken = "true", "false", "pod.status.containerStatuses[5].name == ''"
		ignore, fail          = v1alpha1.FailurePolicyIgnore, v1alpha1.FailurePolicyFail
	)
	for name, c := range map[string]struct {
		when          string
		failurePolicy v1alpha1.FailurePolicy
		binding       []func(*v1alpha1.PodFailurePolicyBindingSpec)
		// want has an entry for each of Pending, Running and Terminating: the step without the condition, and with it.
		want [3][2]binding.LivingStep
	}{
		"a rule matches":              {always, ignore, specs(deletes), [3][2]binding.LivingStep{{end, end}, {end, end}, {end, end}}},
		"none does":                   {never, ignore, specs(deletes), [3][2]binding.LivingStep{{leave, withdraw}, {leave, withdraw}, {leave, leave}}},
		"nobody knows":                {broken, ignore, specs(deletes), [3][2]binding.LivingStep{{tell, tell}, {tell, withdraw}, {tell, tell}}},
		"nobody knows, not ignored":   {broken, fail, specs(deletes), [3][2]binding.LivingStep{{tell, tell}, {tell, withdraw}, {tell, tell}}},
		"one matches, for an audit":   {always, ignore, specs(deletes, audit), [3][2]binding.LivingStep{{audited, withdraw}, {audited, withdraw}, {audited, audited}}},
		"nobody knows, in an audit":   {broken, ignore, specs(deletes, audit), [3][2]binding.LivingStep{{tell, withdraw}, {tell, withdraw}, {tell, tell}}},
		"livingPods lacks the phases": {always, ignore, nil, [3][2]binding.LivingStep{{audited, withdraw}, {audited, withdraw}, {audited, audited}}},
	} {
		set, err := binding.NewSet(byName(livingPolicy(t, "a", c.when, c.failurePolicy)), []*v1alpha1.PodFailurePolicyBinding{bindingOf("1", "a", c.binding...)})
		if err != nil {
			t.Fatal(err)
		}
		selection := set.For(t.Context(), &batchv1.Job{}, nil)
		for i, phase := range v1alpha1.LivingPhases {
			for marked, want := range c.want[i] {
				pod := inPhase(phase)
				if marked == 1 {
					pod.Status.Conditions = []corev1.PodCondition{mark(v1alpha1.FailingToStart)}
				}
				got := selection.DecideLiving(t.Context(), runtime.Input{Pod: pod, Now: time.Now()})
				if got.Step != want || got.Phase != phase || (want == end || want == withdraw) != (len(got.Conditions) > 0) || want == audited != (got.Reason != "") {
					t.Errorf("%s, %s, marked %d: %+v, want %s", name, phase, marked, got, want)
				}
			}
		}
		for _, phase := range []corev1.PodPhase{corev1.PodFailed, corev1.PodSucceeded, corev1.PodUnknown} {
			if got := selection.DecideLiving(t.Context(), runtime.Input{Pod: inPhase(phase), Now: time.Now()}); got.Step != leave {
				t.Errorf("%s, %s: %s", name, phase, got.Step)
			}
		}
	}
}

// TestDecideLivingInGrace checks that a pod in its grace period is left to its kubelet without a report.
func TestDecideLivingInGrace(t *testing.T) {
	set, err := binding.NewSet(byName(livingPolicy(t, "a", "true", "")), []*v1alpha1.PodFailurePolicyBinding{bindingOf("1", "a", deletes)})
	if err != nil {
		t.Fatal(err)
	}
	pod := inPhase(v1alpha1.PhaseTerminating)
	selection := set.For(t.Context(), &batchv1.Job{}, nil)
	for offset, want := range map[time.Duration]binding.LivingStep{-time.Second: binding.LeaveLiving, 0: binding.EndLiving} {
		now := pod.DeletionTimestamp.Add(offset)
		if got := selection.DecideLiving(t.Context(), runtime.Input{Pod: pod, Now: now}); got.Step != want {
			t.Errorf("%s from the end of the grace period: %s, want %s", offset, got.Step, want)
		}
	}
}

// mark returns a condition that a rule on living pods has set.
func mark(kind corev1.PodConditionType) corev1.PodCondition {
	return corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, Message: "Pod /p matching FailJob rule x of PodFailurePolicy y"}
}

// TestDecideLivingByAnotherRule checks that the condition of the rule that ends a pod replaces an earlier rule's condition.
func TestDecideLivingByAnotherRule(t *testing.T) {
	set, err := binding.NewSet(byName(livingPolicy(t, "a", "true", "")), []*v1alpha1.PodFailurePolicyBinding{bindingOf("1", "a", deletes)})
	if err != nil {
		t.Fatal(err)
	}
	pod := inPhase(corev1.PodRunning)
	pod.Status.Conditions = []corev1.PodCondition{mark("example.com/Slow")}
	got := set.For(t.Context(), &batchv1.Job{}, nil).DecideLiving(t.Context(), runtime.Input{Pod: pod})
	want := []corev1.PodCondition{
		{Type: v1alpha1.Stopped, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonRunningRule, Message: "Pod /p matching FailJob rule running of PodFailurePolicy a"},
		{Type: "example.com/Slow", Status: corev1.ConditionFalse, Reason: v1alpha1.ReasonNoRule},
	}
	if diff := cmp.Diff(want, got.Conditions); diff != "" {
		t.Error(diff)
	}
}

// TestDecideLivingAfterAnIgnoredError checks that an audit continues after an ignored evaluation error, but not for a pod that
// is already marked, because it is unknown whether the mark must be withdrawn.
func TestDecideLivingAfterAnIgnoredError(t *testing.T) {
	set, err := binding.NewSet(byName(policyOnBoth(t, v1alpha1.FailurePolicyIgnore, "true", noSuchKey), pendingPolicy(t, "a", "true")),
		[]*v1alpha1.PodFailurePolicyBinding{bindingOf("1", "platform", deletes), bindingOf("2", "a", deletes, audit)})
	if err != nil {
		t.Fatal(err)
	}
	selection := set.For(t.Context(), &batchv1.Job{}, nil)
	for status, want := range map[corev1.ConditionStatus]binding.LivingStep{
		corev1.ConditionTrue: binding.TellLiving, corev1.ConditionFalse: binding.AuditLiving,
	} {
		condition := mark(v1alpha1.FailingToStart)
		condition.Status = status
		pod := inPhase(corev1.PodPending)
		pod.Status.Conditions = []corev1.PodCondition{condition}
		if got := selection.DecideLiving(t.Context(), runtime.Input{Pod: pod, Attempt: 1}); got.Step != want || got.Verdict.Err == nil {
			t.Errorf("condition %s: %s, %v; want %s with an error", status, got.Step, got.Verdict.Err, want)
		}
	}
}

// TestSpared checks that a terminating pod is ended only if its node cannot end it.
func TestSpared(t *testing.T) {
	node := func(ready corev1.ConditionStatus) *corev1.Node {
		return &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}}}
	}
	for name, c := range map[string]struct {
		input  runtime.Input
		change func(*corev1.Pod)
		want   string
	}{
		"the node does not answer":    {input: runtime.Input{NodesRead: true, Node: node(corev1.ConditionUnknown)}},
		"the node is not ready":       {input: runtime.Input{NodesRead: true, Node: node(corev1.ConditionFalse)}},
		"the node says nothing":       {input: runtime.Input{NodesRead: true, Node: &corev1.Node{}}},
		"the node is gone":            {input: runtime.Input{NodesRead: true}},
		"there never was a node":      {change: func(p *corev1.Pod) { p.Spec.NodeName = "" }},
		"the node is ready":           {input: runtime.Input{NodesRead: true, Node: node(corev1.ConditionTrue)}, want: "its node is Ready"},
		"nobody knows about the node": {want: "its node is not known"},
		"its grace period goes on": {
			input: runtime.Input{NodesRead: true}, want: "its grace period is not over",
			change: func(p *corev1.Pod) { p.DeletionTimestamp.Time = time.Now().Add(time.Minute) },
		},
		"its owner consents": {
			input:  runtime.Input{NodesRead: true},
			change: func(p *corev1.Pod) { p.Annotations = map[string]string{binding.ForcefulDeletion: "true"} },
		},
		"its owner forbids it": {
			input: runtime.Input{NodesRead: true}, want: `its annotation kueue.x-k8s.io/safe-to-forcefully-delete is "false"`,
			change: func(p *corev1.Pod) { p.Annotations = map[string]string{binding.ForcefulDeletion: "false"} },
		},
	} {
		c.input.Pod, c.input.Now = inPhase(v1alpha1.PhaseTerminating), time.Now()
		c.input.Pod.Spec.NodeName = "n"
		if c.change != nil {
			c.change(c.input.Pod)
		}
		if got := binding.Spared(c.input); got != c.want {
			t.Errorf("%s: %q", name, got)
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
