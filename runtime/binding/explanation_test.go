package binding_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// pendingPolicy returns a policy with a rule on Pending for each expression. The rules are named a,
// b and so on.
func pendingPolicy(t *testing.T, name string, when ...string) *runtime.Policy {
	t.Helper()
	environment, err := compiler.NewEnvironment("1.37")
	if err != nil {
		t.Fatal(err)
	}
	p := &v1alpha1.PodFailurePolicy{}
	p.Name = name
	for i, w := range when {
		p.Spec.Rules = append(p.Spec.Rules, v1alpha1.Rule{Name: string(rune('a' + i)), Phase: corev1.PodPending, When: w, Action: "FailJob"})
	}
	compiled, err := runtime.NewCustomPolicy(environment, p)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// TestExplainLiving checks the outcomes of the rules of a policy Before and of one After, up to the
// rule that decides or fails.
func TestExplainLiving(t *testing.T) {
	for name, c := range map[string]struct {
		first, second []string
		want          []runtime.Outcome
	}{
		"none":    {[]string{"attempt > 1"}, []string{"attempt > 2"}, []runtime.Outcome{"not matched", "not matched"}},
		"second":  {[]string{"attempt > 1"}, []string{"attempt > 0", "attempt > 0"}, []runtime.Outcome{"not matched", "matched", "not reached"}},
		"failure": {[]string{"pod.status.reason == 'x'", "attempt > 0"}, []string{"attempt > 0"}, []runtime.Outcome{"error", "matched", "not reached"}},
	} {
		set, err := binding.NewSet(
			map[string]*runtime.Policy{"one": pendingPolicy(t, "one", c.first...), "two": pendingPolicy(t, "two", c.second...)},
			[]*v1alpha1.PodFailurePolicyBinding{bindingOf("1", "two", after), bindingOf("2", "one")})
		if err != nil {
			t.Fatal(err)
		}
		selection := set.For(t.Context(), &batchv1.Job{}, nil)
		pod := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending}}
		rules, err := selection.ExplainLiving(t.Context(), runtime.Input{Pod: pod, Attempt: 1})
		if err != nil || len(rules) != len(c.want) {
			t.Fatalf("%s: %d rules, %v", name, len(rules), err)
		}
		for i, r := range rules {
			if r.Outcome != c.want[i] {
				t.Errorf("%s: rule %d is %s, want %s", name, i, r.Outcome, c.want[i])
			}
		}
		var names []string
		for p, b := range selection.All() {
			names = append(names, b.Name+p.Name)
		}
		if len(names) != 2 || names[0] != "2one" || names[1] != "1two" {
			t.Errorf("%s: policies %v", name, names)
		}
	}
}
