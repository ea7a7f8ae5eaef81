package runtime_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/testing/generators"
	"github.com/podverdict/podverdict/runtime"
)

var update = flag.Bool("update", false, "rewrite the golden explanations")

// TestExplanations reads testdata/explanation. Each file contains a sentence with its purpose, rules, the pod's status, and
// the explanation.
func TestExplanations(t *testing.T) {
	files, err := filepath.Glob("testdata/explanation/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { testExplanation(t, file) })
	}
}

func testExplanation(t *testing.T, file string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if f := archive.Files; len(archive.Comment) == 0 || len(f) != 3 ||
		f[0].Name != "rules.yaml" || f[1].Name != "status.yaml" || f[2].Name != "explanation.yaml" {
		t.Fatalf("%s: want a sentence, rules.yaml, status.yaml and explanation.yaml", file)
	}
	policy, pod := policyOf(t, string(archive.Files[0].Data)), podOf(t, string(archive.Files[1].Data))
	var got []byte
	for path, p := range programs(t, policy) {
		e, err := p.Explain(t.Context(), runtime.Input{Pod: pod})
		if err != nil {
			t.Fatal(err)
		}
		if got, err = yaml.Marshal(e); err != nil {
			t.Fatal(err)
		}
		if want := archive.Files[2].Data; !*update && !bytes.Equal(got, want) {
			t.Errorf("%s (-update rewrites it):\n%s", path, cmp.Diff(string(want), string(got)))
		}
	}
	if *update {
		archive.Files[2].Data = got
		if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRuleBeyondCostLimit checks that the interpreter does not reach the rules after one that is too expensive, regardless
// of their results. Closures have no limit to exceed.
func TestRuleBeyondCostLimit(t *testing.T) {
	policy, pod := tooCostly()
	ps := programs(t, policy)
	if got, want := ps["specialized"].Evaluate(t.Context(), pod), oracle(t, "", policy, pod); !got.Equal(want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	e, err := ps["interpreted"].Explain(t.Context(), runtime.Input{Pod: pod})
	if err != nil {
		t.Fatal(err)
	}
	cause, ok := errors.AsType[*runtime.EvaluationError](e.Verdict.Err)
	if !isFailure(e.Verdict) || !ok || cause.Cause() != runtime.CauseCost || !strings.HasPrefix(e.Verdict.Err.Error(), "rules[1]: ") {
		t.Errorf("verdict %+v", e.Verdict)
	}
	if v := ps["interpreted"].Evaluate(t.Context(), pod); v.Err == nil || !v.Equal(e.Verdict) {
		t.Errorf("evaluated %+v, explained %+v", v, e.Verdict)
	}
	want := []runtime.Outcome{runtime.OutcomeNotMatched, runtime.OutcomeError, runtime.OutcomeNotReached}
	if diff := cmp.Diff(want, outcomes(e)); diff != "" {
		t.Fatal(diff)
	}
	broken := e.Rules[1]
	if broken.Holds || len(broken.Elements) != 0 || broken.Because == "" || broken.Error != e.Verdict.Err.Error() {
		t.Errorf("%+v", broken)
	}
	if last := e.Rules[2]; !last.Holds || last.Error != "" {
		t.Errorf("%+v", last)
	}
}

func outcomes(e runtime.Explanation) []runtime.Outcome {
	var list []runtime.Outcome
	for _, r := range e.Rules {
		list = append(list, r.Outcome)
	}
	return list
}

// TestExplanationAgreesWithVerdict draws pairs, and checks that every explanation is consistent with its verdict.
func TestExplanationAgreesWithVerdict(t *testing.T) {
	for _, hostile := range []bool{false, true} {
		g := generators.NewPairs(3850, hostile)
		seen := census{}
		for range draws(150, 15) {
			policy := g.Policy()
			c := compiled(t, policy)
			p := runtime.NewProgram(c)
			for range 2 {
				pod := g.Pod()
				e, err := p.Explain(t.Context(), runtime.Input{Pod: pod})
				if err != nil {
					t.Fatal(err)
				}
				same(t, "explained", policy, pod, e.Verdict, oracle(t, "", policy, pod))
				explains(t, e, c)
				costs(t, e, c, pod)
				seen.count(e.Verdict)
			}
			if t.Failed() {
				t.Fatalf("policy %+v", policy)
			}
		}
		if !testing.Short() {
			seen.check(t)
		}
	}
}

// explains checks that rules and elements are consistent with the verdict.
func explains(t *testing.T, e runtime.Explanation, c *compiler.Compiled) {
	t.Helper()
	v := e.Verdict
	if v.Terminal && len(e.Rules) != len(c.Rules) || !v.Terminal && len(e.Rules) != 0 {
		t.Fatalf("%d of %d rules are explained for %+v", len(e.Rules), len(c.Rules), v)
	}
	for i, r := range e.Rules {
		want := runtime.OutcomeNotMatched
		switch {
		case v.Matched && i == v.Rule:
			want = runtime.OutcomeMatched
		case v.Matched && i > v.Rule:
			want = runtime.OutcomeNotReached
		}
		first := firstMatched(r)
		if r.Rule != i || r.Outcome != want || r.Holds != (first != nil) || r.Because == "" || r.Error != "" {
			t.Errorf("rule %d, want %s: %+v", i, want, r)
		}
		if r.Outcome == runtime.OutcomeMatched && !isCause(first, v) {
			t.Errorf("%+v is not the cause of %+v", first, v)
		}
		if r.Outcome == runtime.OutcomeNotMatched && r.Holds {
			t.Errorf("rule %d did not match, but is true: %+v", i, r)
		}
		parses(t, c.Environment.FailedRules, r)
	}
}

func firstMatched(r runtime.RuleExplanation) *runtime.ElementExplanation {
	for i := range r.Elements {
		if r.Elements[i].Matched {
			return &r.Elements[i]
		}
	}
	return nil
}

func isCause(e *runtime.ElementExplanation, v runtime.Verdict) bool {
	if e == nil {
		return false
	}
	if v.ExitCode != 0 {
		return e.Kind != "condition" && e.Name == v.Container && e.Observed == "exit code "+strconv.Itoa(int(v.ExitCode))
	}
	return e.Kind == "condition" && e.Name == string(v.Condition)
}

func parses(t *testing.T, env *cel.Env, r runtime.RuleExplanation) {
	t.Helper()
	if r.Expression == "" {
		t.Errorf("rule %d has no expression", r.Rule)
	}
	for _, e := range r.Elements {
		if e.Because == "" || e.Observed == "" && e.Kind != "condition" || len(e.Values) == 0 {
			t.Errorf("rule %d does not tell enough of %+v", r.Rule, e)
		}
		for _, v := range e.Values {
			for _, text := range []string{v.Expression, v.Value} {
				if _, issues := env.Parse(text); issues.Err() != nil {
					t.Errorf("rule %d: %q is not CEL: %v", r.Rule, text, issues.Err())
				}
			}
		}
	}
}

// costs checks that the reported cost is close to the count of CEL's own tracker, which does not count selections of absent
// fields, and does not exceed the compiler's estimate.
func costs(t *testing.T, e runtime.Explanation, c *compiler.Compiled, pod *corev1.Pod) {
	t.Helper()
	for i, r := range e.Rules {
		if actual := actualCost(t, c.Rules[i], c.Environment.FailedRules, pod); r.Cost < actual || r.Cost > 2*actual || r.Cost > c.Rules[i].Cost {
			t.Errorf("rule %d: cost %d, actual %d, estimate %d", i, r.Cost, actual, c.Rules[i].Cost)
		}
	}
}

func actualCost(t *testing.T, r compiler.CompiledRule, env *cel.Env, pod *corev1.Pod) uint64 {
	t.Helper()
	plain, err := env.PlanProgram(r.AST)
	if err != nil {
		t.Fatal(err)
	}
	_, details, err := plain.Eval(map[string]any{compiler.PodVariable: pod})
	if err != nil {
		t.Fatal(err)
	}
	return *details.ActualCost()
}
