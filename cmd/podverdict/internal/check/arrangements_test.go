package check

import (
	"errors"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/testing/generators"
	"github.com/podverdict/podverdict/runtime"
)

// TestRepairsKeepVerdicts repairs random policies completely. Exit codes are then a sorted set, and a Pod gets another verdict only if it
// is disrupted and a rule for disruptions only decides now.
func TestRepairsKeepVerdicts(t *testing.T) {
	g := testGate(t)
	g.suggest = false
	draw := generators.NewPairs(1, false)
	repaired, changed := 0, 0
	for n := range 120 {
		given := disordered(draw.Policy())
		r, err := g.repairText(t.Context(), jobText(t, given))
		if err != nil {
			t.Fatal(err)
		}
		repaired += r.done
		for _, left := range r.left {
			if !errors.Is(left.reason, errChanges) {
				t.Errorf("policy %d: %s is left: %v", n, left.Check, left.reason)
			}
		}
		var job batchv1.Job
		if err := yaml.Unmarshal([]byte(r.text), &job); err != nil {
			t.Fatal(err)
		}
		result := job.Spec.PodFailurePolicy
		for i, rule := range result.Rules {
			if on := rule.OnExitCodes; on != nil && !slices.Equal(on.Values, slices.Compact(slices.Sorted(slices.Values(on.Values)))) {
				t.Errorf("policy %d, rule %d: codes %v", n, i, on.Values)
			}
		}
		before, after := program(t, given), program(t, result)
		for range 300 {
			pod := draw.Pod()
			was, is := before.Evaluate(t.Context(), pod), after.Evaluate(t.Context(), pod)
			if was.Action == is.Action && was.Matched == is.Matched {
				continue
			}
			changed++
			if !disrupted(pod) || slices.ContainsFunc(result.Rules[is.Rule].OnPodConditions, isOther) {
				t.Fatalf("policy %d: %s by rule %d became %s by rule %d\n%s\n%v", n, was.Action, was.Rule, is.Action, is.Rule, r.text, pod.Status)
			}
		}
	}
	if repaired < 50 || changed < 50 {
		t.Errorf("%d repairs, %d changed verdicts: too few to show anything", repaired, changed)
	}
}

// disordered returns a policy with exit codes in descending order, the first of them twice, and half of its condition rules for
// disruptions only.
func disordered(policy *batchv1.PodFailurePolicy) *batchv1.PodFailurePolicy {
	policy = policy.DeepCopy()
	for i := range policy.Rules {
		if on := policy.Rules[i].OnExitCodes; on != nil {
			slices.Reverse(on.Values)
			on.Values = append(on.Values, on.Values[0])
		} else if i%2 == 1 {
			policy.Rules[i].OnPodConditions = []batchv1.PodFailurePolicyOnPodConditionsPattern{
				{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
			}
		}
	}
	return policy
}

func jobText(t *testing.T, policy *batchv1.PodFailurePolicy) string {
	t.Helper()
	rules, err := yaml.Marshal(append([]batchv1.PodFailurePolicyRule{}, policy.Rules...))
	if err != nil {
		t.Fatal(err)
	}
	return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n" +
		"  template: {spec: {restartPolicy: Never, containers: [{name: main, image: app}, {name: setup, image: app}]}}\n" +
		"  podFailurePolicy:\n    rules:\n      " + strings.ReplaceAll(string(rules), "\n", "\n      ")
}

func program(t *testing.T, policy *batchv1.PodFailurePolicy) *runtime.Program {
	t.Helper()
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := environment.Compile(compiler.StoredPolicy(policy))
	if err != nil {
		t.Fatal(err)
	}
	return runtime.NewProgram(compiled)
}

func disrupted(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	})
}
