package runtime_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/internal/testing/generators"
	"github.com/podverdict/podverdict/runtime"
)

func newEnvironment(tb testing.TB) *compiler.Environment {
	tb.Helper()
	env, err := current()
	if err != nil {
		tb.Fatal(err)
	}
	return env
}

func rules(when ...string) *v1alpha1.PodFailurePolicySpec {
	spec := &v1alpha1.PodFailurePolicySpec{FailurePolicy: v1alpha1.FailurePolicyFail} // so that errors are reported
	for i, w := range when {
		spec.Rules = append(spec.Rules, v1alpha1.Rule{Name: fmt.Sprintf("r%d", i), When: w, Action: "FailJob"})
	}
	return spec
}

func compilePolicy(tb testing.TB, env *compiler.Environment, spec *v1alpha1.PodFailurePolicySpec) *runtime.Policy {
	tb.Helper()
	policy, err := newPolicy(env, spec)
	if err != nil {
		tb.Fatal(err)
	}
	return policy
}

// newPolicy compiles a policy without a name.
func newPolicy(env *compiler.Environment, spec *v1alpha1.PodFailurePolicySpec) (*runtime.Policy, error) {
	return runtime.NewCustomPolicy(env, &v1alpha1.PodFailurePolicy{Spec: *spec})
}

// randomPolicy returns a policy whose rules all compile.
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

func outcome(ctx context.Context, p *runtime.Policy, in runtime.Input) string {
	m, err := p.Evaluate(ctx, in)
	return fmt.Sprintf("rule %d, message %q (%v), error %v", m.Rule, m.Message, m.MessageErr, err)
}

// TestFastPathIsTheInterpreter checks that closures never return a result that differs from CEL's interpreter,
// including messages and errors, and that they decide most of the time.
func TestFastPathIsTheInterpreter(t *testing.T) {
	env := newEnvironment(t)
	policies, decided, evaluations := 0, 0, 0
	for seed := range uint64(draws(100, 20)) {
		r := rand.New(rand.NewPCG(seed, 1))
		spec := randomPolicy(r)
		policy, err := newPolicy(env, spec)
		if err != nil {
			if strings.Contains(err.Error(), "("+custom.CheckCost+")") {
				continue
			}
			t.Fatalf("seed %d: %v", seed, err)
		}
		policies++
		interpreted := policy.Interpreted()
		for range 6 {
			in := runtime.Input{Pod: plausiblePod(r), Job: plausibleJob(r), Attempt: int64(r.IntN(5)), Now: someTime.Add(1e9 * 700), Attempts: plausibleAttempts(r)}
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
	if policies < draws(66, 10) || decided*2 < evaluations {
		t.Errorf("the generator writes too little that works")
	}
}

// corners are special rules that the policy generator does not produce, over the variables of inCorner.
var corners = []string{
	"pod.containers().exists(c, c.exitCode in [255, 256, -1])",
	"pod.containers().exists(c, !(c.exitCode in [255]))",
	// Tests that depend only on a status.
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
	// The filter of a variable uses the slot of the enclosing loop's container.
	"pod.containers().exists(c, variables.oom.size() >= 0 && c.name == 'main')",
	"pod.containers().all(c, variables.oom.exists(d, d.exitCode > 0) || c.name == 'main')",
	"pod.containers().exists(c, variables.any && c.name == 'helper')",
	"pod.containers().filter(c, variables.any).exists(d, d.name == 'proxy' && variables.oom.size() == 0)",
	"pod.containers().exists(c, pod.containers().filter(c, c.exitCode == 137).size() > 0 && c.exitCode == 1)",
	"pod.containers().filter(c, c.restarts > 0).filter(d, d.exitCode > 1).exists(c, c.name == 'main')",
	// A field that is absent before an optional one is an error.
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
	// The node, which may be absent.
	"node.ready() || pod.node().unreachable()",
	"node.hasTaint('spot') && !node.hasCondition('DiskPressure')",
	"node.hasTaint(pod.metadata.labels.team)",
	"node.label('zone') == 'a' || node.label(pod.metadata.?labels[?'team'].orValue('zone')) == ''",
	"node.hasValue() && node.value().metadata.name == 'n1'",
	"!node.hasValue() || node.metadata.labels[?'zone'].orValue('') == 'a'",
	"node.?metadata.name.orValue('') == 'n1'",
	"node.?spec.?unschedulable.orValue(false)",
	"node.spec.taints.orValue([]).exists(t, t.key == 'spot' && t.?value.orValue('') == '')",
	"node.value().status.conditions.exists(c, c.type == 'Ready')",
	"node == optional.none()",
	"['zone'].exists(node, node == 'zone') && pod.metadata.name == node.?metadata.name.orValue('p')",
}

func inCorner(when string) *v1alpha1.PodFailurePolicySpec {
	spec := rules(when)
	spec.Variables = []v1alpha1.Variable{
		{Name: "oom", Expression: "pod.containers().filter(c, c.oomKilled)"},
		{Name: "any", Expression: "pod.containers().exists(c, c.exitCode == 2)"},
	}
	return spec
}

// TestFastPathIsTheInterpreterInCorners does the same for corners, each on many pods.
func TestFastPathIsTheInterpreterInCorners(t *testing.T) {
	env := newEnvironment(t)
	for _, when := range corners {
		policy, err := newPolicy(env, inCorner(when))
		if err != nil {
			t.Errorf("%s: %v", when, err)
			continue
		}
		sameBothWays(t, when, policy)
	}
}

// sameBothWays evaluates a policy by closures and by the interpreter, on many pods.
func sameBothWays(t *testing.T, when string, policy *runtime.Policy) {
	t.Helper()
	interpreted, hostile := policy.Interpreted(), generators.NewPairs(7, true)
	for seed := range uint64(90) {
		r := rand.New(rand.NewPCG(seed, 9))
		in := runtime.Input{Pod: plausiblePod(r), Job: plausibleJob(r), Attempt: int64(1 + r.IntN(3)), Now: someTime, Node: plausibleNode(r)}
		switch {
		case seed%3 == 0:
			in.Pod = hostile.Pod().DeepCopy()
		case r.IntN(3) == 0:
			in.Pod.Status.ContainerStatuses = append(in.Pod.Status.ContainerStatuses, exitCode(255).Status.ContainerStatuses...)
		}
		in.Pod.Status.Phase = "Failed"
		if got, want := outcome(t.Context(), policy, in), outcome(t.Context(), interpreted, in); got != want {
			t.Fatalf("%s on %+v:\ngot  %s\nwant %s", when, in.Pod.Status, got, want)
		}
	}
}

const (
	named = `.exists(c, c.?state.?terminated.?exitCode.orValue(0) != 0 && c.name == "main" && c.state.terminated.exitCode in [1, 2])`
	notIn = `.exists(c, c.?state.?terminated.?exitCode.orValue(0) != 0 && !(c.state.terminated.exitCode in [1, 2]))`
	apps  = `pod.?status.?containerStatuses.orValue([])`
	inits = `pod.?status.?initContainerStatuses.orValue([])`

	exitText      = apps + named + " || " + inits + named
	notInText     = apps + notIn + " || " + inits + notIn
	conditionText = `pod.?status.?conditions.orValue([]).exists(c, c.status == "True" && c.type in ["A", "Ready"] || ` +
		`c.status == "False" && c.type in ["DisruptionTarget"])`
)

// TestVariantsOfWrittenExpressions checks expressions that differ in one place from those that the compiler generates
// for a podFailurePolicy. Closures decide generated predicates as a whole, and each variant has a different meaning.
func TestVariantsOfWrittenExpressions(t *testing.T) {
	env := newEnvironment(t)
	replace := strings.NewReplacer
	for name, v := range map[string]struct {
		text string
		edit *strings.Replacer
	}{
		"as written, codes":                {exitText, replace()},
		"as written, other codes":          {notInText, replace()},
		"as written, conditions":           {conditionText, replace()},
		"exit code tested last":            {exitText, replace(`c.?state.?terminated.?exitCode.orValue(0) != 0 && c.name == "main"`, `c.name == "main" && c.?state.?terminated.?exitCode.orValue(0) != 0`)},
		"exit code not guarded":            {exitText, replace(`c.?state.?terminated.?exitCode.orValue(0) != 0 && `, ``)},
		"guarded by what is no guard":      {notInText, replace("orValue(0) != 0", "orValue(1) != 0")},
		"or instead of and in a predicate": {notInText, replace(" && ", " || ")},
		"== instead of in":                 {exitText, replace(`in [1, 2]`, `== 1`)},
		"!= instead of in":                 {exitText, replace(`in [1, 2]`, `!= 1`)},
		"another variable":                 {exitText, replace("exists(c,", "exists(d,", "c.?state", "d.?state", "c.state", "d.state", "c.name", "d.name")},
		"an extra guard":                   {exitText, replace(`in [1, 2]`, `in [1, 2] && c.name != "x"`)},
		"all instead of exists":            {exitText, replace(".exists(", ".all(")},
		"exists_one instead of exists":     {exitText, replace(".exists(", ".exists_one(")},
		"has instead of an optional":       {exitText, replace("c.?state.?terminated.?exitCode.orValue(0) != 0", "has(c.state.terminated) && c.state.terminated.exitCode != 0")},
		"containers alone":                 {exitText, replace(" || "+inits+named, "")},
		"containers twice":                 {exitText, replace(inits, apps)},
		"both lists joined":                {exitText, replace(apps+named+" || "+inits, "("+apps+" + "+inits+")")},
		"and instead of or between lists":  {exitText, replace(" || ", " && ")},
		"a third list":                     {exitText, replace(exitText, exitText+" || "+apps+named)},
		"codes that differ":                {exitText, replace(inits+named, inits+strings.Replace(named, "[1, 2]", "[1]", 1))},
		"init containers first":            {exitText, replace("?containerStatuses", "?initContainerStatuses", "?initContainerStatuses", "?containerStatuses")},
		"exit code 0 included":             {exitText, replace("orValue(0) != 0", "orValue(0) != 1")},
		"a code above int32":               {exitText, replace("[1, 2]", "[4294967297, 2]")},
		"a code below int32":               {exitText, replace("[1, 2]", "[-2147483649, 2]")},
		"a code twice":                     {exitText, replace("[1, 2]", "[1, 1, 999, 999]")},
		"a code that is not a literal":     {exitText, replace("[1, 2]", "[1, 1 + 1]")},
		"an optional code":                 {exitText, replace("[1, 2]", "[1, ?optional.of(2)]")},
		"no codes":                         {exitText, replace("[1, 2]", "[]")},
		"a name of another thing":          {exitText, replace(`c.name == "main"`, `c.name + "" == "main"`)},
		"negated name":                     {exitText, replace(`c.name == "main"`, `c.name != "main"`)},
		"two names":                        {exitText, replace(`c.name == "main"`, `c.name == "main" && c.name == "side"`)},
		"one name twice":                   {exitText, replace(`c.name == "main"`, `c.name == "main" && c.name == "main"`)},
		"a negation too many":              {notInText, replace("!(c.state.terminated.exitCode in [1, 2])", "!(!(c.state.terminated.exitCode in [1, 2]))")},
		"negated altogether":               {exitText, replace(exitText, "!("+exitText+")")},
		"nested":                           {exitText, replace(exitText, "true && ("+exitText+")")},
		"lists that must be there":         {exitText, replace(".?", ".", ".orValue([])", "", ".orValue(0)", "")},
		"a list that stands for none":      {notInText, replace("orValue([])", "orValue(pod.status.containerStatuses)")},
		"another pod":                      {exitText, replace(exitText, "[pod].exists(p, "+strings.ReplaceAll(exitText, "pod.", "p.")+")")},
		"a loop that is called pod":        {conditionText, replace(conditionText, "pod.failedContainers().exists(pod, pod.exitCode == 1) || "+conditionText)},
		"parts in another order":           {conditionText, replace(`c.status == "True" && c.type in ["A", "Ready"]`, `c.type in ["A", "Ready"] && c.status == "True"`)},
		"one status twice":                 {conditionText, replace(`"False"`, `"True"`)},
		"several statuses":                 {conditionText, replace(`c.status == "False"`, `c.status in ["False", "Unknown"]`)},
		"status and type exchanged":        {conditionText, replace("c.status ==", "c.type ==", "c.type in", "c.status in")},
		"status alone":                     {conditionText, replace(` && c.type in ["A", "Ready"]`, "")},
		"and instead of or":                {conditionText, replace("||", "&&")},
		"a reason":                         {conditionText, replace(`c.status == "False"`, `c.?reason.orValue("") == ""`)},
		"false":                            {"false", replace()},
		"a constant that is not a boolean": {"0 == 0", replace()},
	} {
		t.Run(name, func(t *testing.T) {
			when := v.edit.Replace(v.text)
			policy, err := newPolicy(env, rules(when))
			if err != nil {
				t.Fatalf("%s: %v", when, err)
			}
			sameBothWays(t, when, policy)
		})
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
