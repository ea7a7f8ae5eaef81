package compiler

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
)

// testdata/golden/refused-*.txtar shows the findings themselves.

func TestNewPolicyLeavesItsInputAlone(t *testing.T) {
	for name, g := range goldenInputs(t) {
		before := g.policy.DeepCopy()
		policy, err := NewPolicy(g.policy)
		if diff := cmp.Diff(before, g.policy); diff != "" {
			t.Errorf("%s: changed (-before +after):\n%s", name, diff)
		}
		if (policy == nil) != (err != nil) {
			t.Errorf("%s: policy %v and error %v", name, policy, err)
		}
	}
}

// TestPolicyErrorNamesEveryFinding checks that the text of the error contains every finding of a
// policy.
func TestPolicyErrorNamesEveryFinding(t *testing.T) {
	_, err := NewPolicy(&batchv1.PodFailurePolicy{Rules: make([]batchv1.PodFailurePolicyRule, 1)})
	const want = `[rules[0].action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"], ` +
		`rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required]`
	if refused := (*PolicyError)(nil); !errors.As(err, &refused) || len(refused.Errors) != 2 || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestStoredPolicyReadsWhatNewPolicyAccepts checks that reading an accepted policy back, which the
// API server stores with its defaults, returns the same rules.
func TestStoredPolicyReadsWhatNewPolicyAccepts(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		p := policies.Draw(t, "policy")
		policy, err := NewPolicy(p)
		if err != nil {
			return
		}
		accepted++
		if diff := cmp.Diff(StoredPolicy(withDefaults(p)), policy); diff != "" {
			t.Fatalf("(-stored +new):\n%s", diff)
		}
		for i, r := range policy.Rules {
			if _, never := r.Match.(Never); never {
				t.Fatalf("rule %d is legal and never matches", i)
			}
		}
	})
	if accepted == 0 {
		t.Error("no legal policy was drawn")
	}
}

// policies are valid more often than not.
var policies = rapid.Custom(func(t *rapid.T) *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: rapid.SliceOfN(rapid.Custom(drawRule), 0, 3).Draw(t, "rules")}
})

func drawRule(t *rapid.T) batchv1.PodFailurePolicyRule {
	actions := []batchv1.PodFailurePolicyAction{"FailJob", "FailIndex", "Ignore", "Count"}
	r := batchv1.PodFailurePolicyRule{Action: rapid.SampledFrom(actions).Draw(t, "action")}
	if rapid.Bool().Draw(t, "on conditions") {
		types := rapid.SampledFrom([]corev1.PodConditionType{"DisruptionTarget", "example.com/Gpu"})
		r.OnPodConditions = []batchv1.PodFailurePolicyOnPodConditionsPattern{
			{Type: types.Draw(t, "type"), Status: rapid.SampledFrom(append(knownStatuses, "")).Draw(t, "status")},
		}
		return r
	}
	m := drawExitCodes(t)
	r.OnExitCodes = &batchv1.PodFailurePolicyOnExitCodesRequirement{ContainerName: m.Container, Operator: m.Operator, Values: m.Values}
	if rapid.Bool().Draw(t, "sorted") {
		slices.Sort(r.OnExitCodes.Values)
		r.OnExitCodes.Values = slices.Compact(r.OnExitCodes.Values)
	}
	return r
}

func TestCompileOddMatches(t *testing.T) {
	env := newEnvironment(t, DefaultVersion)
	if text, err := compileMatch(t, env, PodConditions{}).Source(); err != nil || text != "false" {
		t.Errorf("no patterns: %q, %v", text, err)
	}
	var many PodConditions
	for i := range maxStatuses + 1 {
		many.Patterns = append(many.Patterns, patternsOf(fmt.Sprintf("A=S%d", i))...)
	}
	policy := &Policy{Rules: []Rule{{Action: "Count", Match: many}}}
	var refused *CompileError
	if _, err := env.Compile(policy); !errors.As(err, &refused) || refused.Rule != 0 {
		t.Errorf("%d statuses: %v", maxStatuses+1, err)
	}
	many.Patterns = many.Patterns[1:]
	if _, err := env.Compile(&Policy{Rules: []Rule{{Action: "Count", Match: many}}}); err != nil {
		t.Errorf("%d statuses: %v", maxStatuses, err)
	}
}
