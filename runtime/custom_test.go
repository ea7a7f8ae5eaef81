package runtime_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
)

func customPolicy(t testing.TB, name string, rules ...v1alpha1.Rule) *runtime.Policy {
	t.Helper()
	return policyWith(t, name, v1alpha1.FailurePolicyIgnore, rules...)
}

func policyWith(t testing.TB, name string, failurePolicy v1alpha1.FailurePolicy, rules ...v1alpha1.Rule) *runtime.Policy {
	t.Helper()
	object := &v1alpha1.PodFailurePolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.PodFailurePolicySpec{FailurePolicy: failurePolicy, Rules: rules},
	}
	object.SetDefaults()
	policy, err := runtime.NewCustomPolicy(newEnvironment(t), object)
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

// outOfMemory returns a rule with every field that a rule can have.
func outOfMemory() v1alpha1.Rule {
	return v1alpha1.Rule{
		Name: "oom", When: "pod.failedContainers().exists(c, c.oomKilled)", Action: ignore, Reason: "OutOfMemory",
		MessageExpression: "'attempt ' + string(attempt)", RetryDelay: &metav1.Duration{Duration: 90 * time.Second},
		Budget: &v1alpha1.Budget{Limit: 3, Per: v1alpha1.PerIndex, Then: failIndex},
	}
}

func oomKilled() *corev1.Pod {
	pod := namedPod("default", "p")
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{*container("main", 137)}
	pod.Status.ContainerStatuses[0].State.Terminated.Reason = "OOMKilled"
	return pod
}

func TestUsedUpNeedsABudget(t *testing.T) {
	v := runtime.MatchedExitCode(oomKilled(), 0, ignore, container("main", 1))
	if got := v.UsedUp(); !got.Equal(v) || got.IsUsedUp() {
		t.Errorf("%+v", got)
	}
}

// listed is a rule of the whole list. It matches one attempt, or cannot be evaluated for that attempt. Its error is
// ignored or ends the evaluation.
type listed struct {
	policy, name   string
	attempt        int64
	fails, ignored bool
}

// TestJoinIsOneOrderedList compares Judge, and the outcomes of each rule in Explain, with a loop over the rules in the
// order that Join documents. Own rules have an empty policy name and match the exit code.
func TestJoinIsOneOrderedList(t *testing.T) {
	own := runtime.NewProgram(compiled(t, policyOf(t, `
- {action: Count, onExitCodes: {operator: In, values: [1]}}
- {action: FailJob, onExitCodes: {operator: In, values: [2]}}`)))
	ownRules := []listed{{attempt: 1}, {attempt: 2}}
	var policies []*runtime.Policy
	rules := map[*runtime.Policy][]listed{}
	for _, p := range []struct {
		name          string
		failurePolicy v1alpha1.FailurePolicy
		rules         []listed
	}{
		{"a", v1alpha1.FailurePolicyIgnore, []listed{{"a", "first", 1, false, false}, {"a", "second", 3, false, false}, {"a", "third", 2, true, true}}},
		{"b", v1alpha1.FailurePolicyFail, []listed{{"b", "first", 2, false, false}, {"b", "second", 4, true, false}}},
		{"c", v1alpha1.FailurePolicyFail, []listed{{"c", "first", 3, false, false}, {"c", "second", 1, false, false}, {"c", "third", 5, false, false}}},
		{"d", v1alpha1.FailurePolicyIgnore, []listed{{"d", "broken", 4, true, true}, {"d", "first", 4, false, false}}},
	} {
		policy := policyWith(t, p.name, p.failurePolicy, whens(p.rules)...)
		policies = append(policies, policy)
		rules[policy] = p.rules
	}
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.Permutation(policies).Draw(t, "order")
		ends := rapid.SliceOfN(rapid.IntRange(0, len(order)), 2, 2).Draw(t, "ends")
		slices.Sort(ends)
		before, after := order[:ends[0]], order[ends[0]:ends[1]]
		hasOwn := rapid.Bool().Draw(t, "own")
		attempt := rapid.Int64Range(1, 6).Draw(t, "attempt")

		var list []listed
		for _, p := range before {
			list = append(list, rules[p]...)
		}
		joined := runtime.Join(before, nil, after)
		if hasOwn {
			list = append(list, ownRules...)
			joined = runtime.Join(before, own, after)
		}
		for _, p := range after {
			list = append(list, rules[p]...)
		}
		pod := namedPod("default", "p")
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{*container("main", int32(attempt))}
		e, err := joined.Explain(context.Background(), runtime.Input{Pod: pod, Attempt: attempt})
		if err != nil {
			t.Fatal(err)
		}
		checkList(t, e, list, attempt)
	})
}

// whens returns rules that match one attempt each, or cannot be evaluated for it.
func whens(list []listed) []v1alpha1.Rule {
	var rules []v1alpha1.Rule
	for _, r := range list {
		n := string(rune('0' + r.attempt))
		when := "attempt == " + n
		if r.fails {
			when = "attempt == " + n + " && [0][attempt] == 0"
		}
		rules = append(rules, v1alpha1.Rule{Name: r.name, When: when, Action: count})
	}
	return rules
}

func checkList(t *rapid.T, e runtime.Explanation, list []listed, attempt int64) {
	at := slices.IndexFunc(list, func(r listed) bool { return r.attempt == attempt && !r.ignored })
	ignored := slices.IndexFunc(list, func(r listed) bool { return r.attempt == attempt && r.ignored })
	if ignored > at && at >= 0 {
		ignored = -1 // not reached
	}
	var want, got []runtime.Outcome
	for i := range list {
		switch {
		case list[i].ignored && list[i].attempt == attempt && (at < 0 || i < at):
			want = append(want, runtime.OutcomeError)
		case at < 0 || i < at:
			want = append(want, runtime.OutcomeNotMatched)
		case i > at:
			want = append(want, runtime.OutcomeNotReached)
		case list[i].fails:
			want = append(want, runtime.OutcomeError)
		default:
			want = append(want, runtime.OutcomeMatched)
		}
	}
	for i, r := range e.Rules {
		got = append(got, r.Outcome)
		if r.Policy != list[i].policy || r.RuleName != list[i].name {
			t.Fatalf("rule %d is %s, want %+v", i, r.Subject(), list[i])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%+v, attempt %d: %s", list, attempt, diff)
	}
	v := e.Verdict
	told, _ := errors.AsType[*runtime.PolicyError](v.Err)
	if ignored >= 0 && (at < 0 || !list[at].fails) {
		if told == nil || told.Policy != list[ignored].policy || told.RuleName != list[ignored].name || told.Cause != runtime.CauseError {
			t.Fatalf("%+v, want the error of %+v", v, list[ignored])
		}
		v.Err = nil // without it, the verdict must be the same
	}
	switch {
	case at >= 0 && list[at].fails:
		if v.Matched || v.Err == nil || v.Action != count || !strings.Contains(v.Err.Error(), "PodFailurePolicy b: spec.rules[1].when: ") {
			t.Fatalf("%+v", v)
		}
	case at >= 0:
		if !v.Matched || v.Err != nil || v.Policy != list[at].policy || v.RuleName != list[at].name {
			t.Fatalf("%+v, want %+v", v, list[at])
		}
	case v.Matched || v.Err != nil || !v.Counted:
		t.Fatalf("%+v", v)
	}
}

func TestPendingRulesAreApart(t *testing.T) {
	policy := customPolicy(t, "start",
		v1alpha1.Rule{Name: "late", Phase: corev1.PodPending, When: "now > timestamp('2026-01-01T00:00:00Z')", Action: failJob},
		v1alpha1.Rule{Name: "failed", When: "true", Action: count},
	)
	pending := namedPod("default", "p")
	pending.Status.Phase = corev1.PodPending
	in := runtime.Input{Pod: pending, Now: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)}
	if v, decided := policy.Living(t.Context(), in); !decided || v.RuleName != "late" || v.Action != failJob {
		t.Errorf("%t %+v", decided, v)
	}
	if v := runtime.Join([]*runtime.Policy{policy}, nil, nil).Judge(t.Context(), in); v.Terminal || v.Matched {
		t.Errorf("a pending pod has the verdict %+v", v)
	}
	in.Pod = namedPod("default", "q")
	if v, decided := policy.Living(t.Context(), in); decided {
		t.Errorf("a failed pod has the verdict %+v", v)
	}
}
