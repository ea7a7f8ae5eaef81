package custom_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
)

func newEnvironment(tb testing.TB) *custom.Environment {
	tb.Helper()
	env, err := custom.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		tb.Fatal(err)
	}
	return env
}

func rules(when ...string) *v1alpha1.PodFailurePolicySpec {
	spec := &v1alpha1.PodFailurePolicySpec{FailurePolicy: v1alpha1.FailurePolicyFail} // so that errors are seen
	for i, w := range when {
		spec.Rules = append(spec.Rules, v1alpha1.Rule{Name: fmt.Sprintf("r%d", i), When: w, Action: "FailJob"})
	}
	return spec
}

func compile(tb testing.TB, env *custom.Environment, spec *v1alpha1.PodFailurePolicySpec) *custom.Policy {
	tb.Helper()
	policy, err := env.Compile(spec)
	if err != nil {
		tb.Fatal(err)
	}
	return policy
}

// randomPolicy is one whose every rule compiles.
func randomPolicy(r *rand.Rand) *v1alpha1.PodFailurePolicySpec {
	w := &writer{Rand: r}
	spec := &v1alpha1.PodFailurePolicySpec{Variables: []v1alpha1.Variable{
		{Name: "b", Expression: w.bool(2)}, {Name: "i", Expression: w.int()}, {Name: "t", Expression: w.text()}, {Name: "l", Expression: w.list(2)},
	}}
	w.bools, w.ints, w.texts, w.lists = []string{"variables.b"}, []string{"variables.i"}, []string{"variables.t"}, []string{"variables.l"}
	for i := range 3 {
		rule := v1alpha1.Rule{Name: fmt.Sprintf("r%d", i), Action: "FailJob"}
		if w.pending = r.IntN(3) == 0; w.pending {
			rule.Phase = "Pending"
		}
		rule.When, rule.MessageExpression = w.bool(3), w.text()
		spec.Rules = append(spec.Rules, rule)
	}
	w.pending = false
	return spec
}

func outcome(ctx context.Context, p *custom.Policy, in custom.Input) string {
	m, err := p.Evaluate(ctx, in)
	return fmt.Sprintf("rule %d, message %q (%v), error %v", m.Rule, m.Message, m.MessageErr, err)
}

// TestFastPathIsTheInterpreter holds that closures never say anything that CEL's
// interpreter does not say, messages and errors included, and that they say something
// most of the time.
func TestFastPathIsTheInterpreter(t *testing.T) {
	env := newEnvironment(t)
	policies, decided, evaluations := 0, 0, 0
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		spec := randomPolicy(r)
		policy, err := env.Compile(spec)
		if err != nil {
			if strings.Contains(err.Error(), "("+custom.CheckCost+")") {
				continue
			}
			t.Fatalf("seed %d: %v", seed, err)
		}
		policies++
		interpreted := policy.Interpreted()
		for range 6 {
			in := custom.Input{Pod: plausiblePod(r), Job: plausibleJob(r), Attempt: int64(r.IntN(5)), Now: someTime.Add(1e9 * 700)}
			got, want := outcome(t.Context(), policy, in), outcome(t.Context(), interpreted, in)
			if got != want {
				t.Fatalf("seed %d: the fast path and the interpreter differ on\n%s\n%+v\ngot  %s\nwant %s", seed, describe(spec), in.Pod, got, want)
			}
			evaluations++
			if !strings.Contains(want, "error <nil>") {
				continue
			}
			decided++
		}
	}
	t.Logf("%d policies, %d evaluations, %d without an error", policies, evaluations, decided)
	if policies < 66 || decided*2 < evaluations {
		t.Errorf("the generator writes too little that works")
	}
}

// TestFastPathIsTheInterpreterInCorners is the same for expressions that are too
// special for the generator, each on many pods.
func TestFastPathIsTheInterpreterInCorners(t *testing.T) {
	env := newEnvironment(t)
	for _, when := range []string{
		"pod.containers().exists(c, c.exitCode in [255, 256, -1])",
		"pod.containers().exists(c, !(c.exitCode in [255]))",
		// Tests of a status alone.
		"pod.containers().exists(c, c.kind == 'sidecar')",
		"pod.failedContainers().exists(c, c.kind in ['init'])",
		"pod.containers().exists(c, !(c.name == 'main' && c.exitCode in [1, 2]))",
		"pod.containers().all(c, !(c.name == 'main' && c.exitCode in [1, 2]) || c.restarts > 0)",
		"pod.containers().exists(c, c.exitCode != 137)",
		"pod.containers().exists(c, c.exitCode == 137)",
		"pod.containers().all(c, c.exitCode != 0)",
		"pod.containers().exists(c, c.name == 'main' && (c.name == 'helper' && c.exitCode == 1))",
		"pod.containers().exists(c, c.name == 'main' && c.exitCode in [1, 2])",
		"pod.failedContainers().exists(c, !(c.exitCode in [1, 2]) && c.name == 'main')",
		"pod.containers().exists(c, c.name == 'main' && c.name == 'helper')",
		"pod.containers().exists(c, c.name == 'main' || c.oomKilled)",
		"pod.containers().exists(c, c.name == 'main' || !(c.exitCode in [0]))",
		"pod.containers().exists(c, c.restarts > 1 && c.state != 'running')",
		"pod.containers().exists(c, c.restarts >= 2) && pod.containers().exists(c, c.restarts < 1)",
		"pod.containers().exists(c, c.reason <= 'Error' && c.restarts <= 0)",
		"pod.containers().exists(c, c.signal in [9, 11] || c.signalName in ['SIGHUP', 'SIGTERM'])",
		"pod.containers().exists(c, 137 == c.exitCode)",
		"pod.containers().exists(c, c.exitCode in [1, attempt])",
		"pod.containers().exists(c, c.exitCode < 2.5)",
		// A variable's filter stands where the loop around has its container.
		"pod.containers().exists(c, variables.oom.size() >= 0 && c.name == 'main')",
		"pod.containers().all(c, variables.oom.exists(d, d.exitCode > 0) || c.name == 'main')",
		"pod.containers().exists(c, variables.any && c.name == 'helper')",
		"pod.containers().filter(c, variables.any).exists(d, d.name == 'proxy' && variables.oom.size() == 0)",
		"pod.containers().exists(c, pod.containers().filter(c, c.exitCode == 137).size() > 0 && c.exitCode == 1)",
		"pod.containers().filter(c, c.restarts > 0).filter(d, d.exitCode > 1).exists(c, c.name == 'main')",
		// What is absent before an optional is an error.
		"job.metadata.labels.?team.orValue('x') == 'x'",
		"pod.metadata.labels[?'team'].hasValue()",
		"pod.spec.securityContext.?runAsUser.orValue(1) == 1",
		"pod.?spec.securityContext.runAsUser.orValue(1) == 1",
		"pod.?spec.hostNetwork.orValue(true)",
		"has(pod.metadata.labels.team) ? pod.metadata.labels.team == 'web' : attempt == 2",
		"pod.containers()[attempt].name == 'main'",
		"pod.containers().filter(c, c.exitCode > 0)[0].name == 'main'",
		"pod.condition(pod.metadata.labels.team).found",
		"pod.hasCondition(pod.metadata.?labels[?'team'].orValue('DisruptionTarget'))",
		"pod.metadata.labels.team in pod.waitingReasons()",
		"pod.metadata.labels.team in ['web', 'x']",
		"pod.metadata.labels.team.contains('e')",
		"(attempt > 1 ? pod.metadata.labels.team : 'web') == 'web'",
		"(pod.metadata.labels.team == 'web' ? 1 : 2) == attempt",
		"attempt.between(job.spec.backoffLimit, 5)",
		"(pod.metadata.labels.team == 'web') == (attempt == 1)",
		"'' in pod.waitingReasons()",
	} {
		spec := rules(when)
		spec.Variables = []v1alpha1.Variable{
			{Name: "oom", Expression: "pod.containers().filter(c, c.oomKilled)"},
			{Name: "any", Expression: "pod.containers().exists(c, c.exitCode == 2)"},
		}
		policy, err := env.Compile(spec)
		if err != nil {
			t.Errorf("%s: %v", when, err)
			continue
		}
		interpreted := policy.Interpreted()
		for seed := range uint64(60) {
			r := rand.New(rand.NewPCG(seed, 9))
			in := custom.Input{Pod: plausiblePod(r), Job: plausibleJob(r), Attempt: int64(1 + r.IntN(3)), Now: someTime}
			in.Pod.Status.Phase = "Failed"
			if r.IntN(3) == 0 {
				in.Pod.Status.ContainerStatuses = append(in.Pod.Status.ContainerStatuses, exitCode(255).Status.ContainerStatuses...)
			}
			if got, want := outcome(t.Context(), policy, in), outcome(t.Context(), interpreted, in); got != want {
				t.Fatalf("%s on %+v:\ngot  %s\nwant %s", when, in.Pod.Status, got, want)
			}
		}
	}
}

func describe(spec *v1alpha1.PodFailurePolicySpec) string {
	var b strings.Builder
	for _, v := range spec.Variables {
		fmt.Fprintf(&b, "%s: %s\n", v.Name, v.Expression)
	}
	for _, r := range spec.Rules {
		fmt.Fprintf(&b, "%s when %s\n  says %s\n", r.Phase, r.When, r.MessageExpression)
	}
	return b.String()
}
