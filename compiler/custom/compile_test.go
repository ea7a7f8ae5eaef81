package custom_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
)

// TestKnownExpressions lists what the fast path knows whole, and what it leaves to the
// interpreter.
func TestKnownExpressions(t *testing.T) {
	env := newEnvironment(t)
	for when, known := range map[string]bool{
		"pod.failedContainers().exists(c, c.exitCode in [1, 2, 300])":                            true,
		"pod.failedContainers().all(c, c.name == 'main' || !(c.reason in ['Error', 'x']))":       true,
		"pod.containers().exists_one(c, c.kind == 'sidecar')":                                    true,
		"pod.containers().filter(c, c.restarts > 2).filter(c, c.oomKilled).size() >= 2":          true,
		"size(pod.failedContainers()) == 1 && pod.failedContainers()[0].signalName == 'SIGKILL'": true,
		"variables.failed.exists(c, c.exitCode.between(128, 159)) && variables.number > 3":       true,
		"variables.yes || variables.text == 'x'":                                                 true,
		"pod.hasCondition('DisruptionTarget') && pod.condition('x').reason != 'y'":               true,
		"pod.condition('x').found":                   true,
		"pod.neverStarted() || pod.unschedulable()":  true,
		"'ImagePullBackOff' in pod.waitingReasons()": true,
		"attempt >= 3":                                                                           true,
		"pod.status.reason == 'Evicted'":                                                         true,
		"pod.status.?reason.orValue('') == 'Evicted'":                                            true,
		"has(pod.status.reason) && has(pod.metadata.labels.team)":                                true,
		"pod.metadata.labels['team'] == 'x' && 'team' in pod.metadata.labels":                    true,
		"job.metadata.?labels[?'team'].orValue('') == 'training'":                                true,
		"job.spec.?backoffLimit.orValue(6) < attempt && job.spec.suspend":                        true,
		"pod.status.?reason.hasValue()":                                                          true,
		"pod.failedContainers().exists(c, c.message.matches('a.*b') || c.message.contains('x'))": true,
		"pod.failedContainers().exists(c, pod.containers().exists(d, c.name == d.name))":         true,
		"(attempt > 1 ? pod.metadata.name : 'x') == string(attempt) + 'y'":                       true,
		"pod.spec.hostNetwork ? true : false":                                                    true,
		"pod.failedContainers().map(c, c.exitCode) == [1]":                                       false,
		"pod.status.?containerStatuses.orValue([]).exists(c, c.name == 'main')":                  false,
		"pod.metadata.creationTimestamp > timestamp('2026-01-01T00:00:00Z')":                     false,
		"attempt + 1 == 2": false,
		"pod.failedContainers().exists(c, c.name.matches(c.name + 'x'))": false,
		"pod.metadata.name.size() > 3":                                   false,
		"dyn(attempt) == 1":                                              false,
		"pod.spec.overhead['cpu'] == '1'":                                false, // a Quantity only looks like a string
		"pod.kind == 'Pod'":                                              false,
		"variables.list.size() > 3":                                      false,
		"attempt in variables.list":                                      false,
	} {
		t.Run(when, func(t *testing.T) {
			spec := rules(when)
			spec.Variables = []v1alpha1.Variable{
				{Name: "failed", Expression: "pod.failedContainers()"}, {Name: "number", Expression: "attempt"},
				{Name: "yes", Expression: "attempt == 1"}, {Name: "text", Expression: "pod.metadata.name"}, {Name: "list", Expression: "[1, 2]"},
			}
			if got := compile(t, env, spec).Complete(0); got != known {
				t.Errorf("known is %t, want %t", got, known)
			}
		})
	}
}

// TestPartsAreDecided holds that a part that the fast path does not know leaves the
// rest to it.
func TestPartsAreDecided(t *testing.T) {
	env := newEnvironment(t)
	const strange = "pod.failedContainers().map(c, c.exitCode) == [1]"
	in := custom.Input{Pod: exitCode(1), Attempt: 1}
	for when, decided := range map[string]bool{
		strange:                                false,
		"pod.?status.reason.orValue('') == ''": true,
		"pod.?metadata.labels.team.orValue('') == ''": true,
		"pod.status.reason == ''":                     false, // an error
		strange + " && attempt > 5":                   true,
		"attempt == 1 || " + strange:                  true,
		strange + " && attempt == 1":                  false,
		"pod.containers().exists(c, c.exitCode == 1 || c.name.matches(c.name + 'x'))": true,
		"pod.containers().exists(c, c.exitCode == 2 || c.name.matches(c.name + 'x'))": false,
	} {
		if got := compile(t, env, rules(when)).Decides(0, in); got != decided {
			t.Errorf("%s: decided is %t, want %t", when, got, decided)
		}
	}
}

// TestWhatPeopleWrite has nothing to say of rules that are right, and knows them
// whole.
func TestWhatPeopleWrite(t *testing.T) {
	spec := rules(
		"pod.failedContainers().exists(c, c.oomKilled)",
		"pod.neverStarted() && pod.status.?reason.orValue('') in ['Evicted', 'NodeAffinity', 'UnexpectedAdmissionError']",
		"pod.status.?reason.orValue('') == 'DeadlineExceeded'",
		"pod.failedContainers().exists(c, c.exitCode.between(128, 159))",
		"pod.failedContainers().exists(c, c.signalName in ['SIGBUS', 'SIGSEGV'])",
		"pod.hasCondition('DisruptionTarget') && pod.failedContainers().exists(c, c.exitCode == 143)",
		"pod.condition('DisruptionTarget').reason == 'PreemptionByScheduler' && attempt < 10",
		"pod.failedContainers().all(c, c.kind == 'init')",
		"pod.failedContainers().exists(c, c.name == 'main' && c.message.matches('CUDA error|NCCL'))",
		"job.metadata.?labels[?'team'].orValue('') == 'training' && job.status.?failed.orValue(0) > 10",
		"has(pod.spec.nodeName) && pod.spec.nodeName.startsWith('spot-')",
		"pod.failedContainers().exists(c, c.exitCode == 42) && !pod.containers().exists(c, c.kind == 'sidecar' && c.restarts > 3)",
		"pod.metadata.namespace == 'training' && job.spec.backoffLimit > attempt",
		"pod.failedContainers().filter(c, c.kind == 'container').size() == 1",
	)
	spec.Rules = append(spec.Rules,
		v1alpha1.Rule{Name: "image", Phase: "Pending", When: "'ImagePullBackOff' in pod.waitingReasons() && pod.pendingFor(now) > duration('10m')"},
		v1alpha1.Rule{Name: "node", Phase: "Pending", When: "pod.unschedulable() && pod.pendingFor(now) >= duration('1h30m')"},
	)
	policy := compile(t, newEnvironment(t), spec)
	for _, f := range policy.Warnings {
		t.Error(f)
	}
	for i, r := range spec.Rules {
		if !policy.Complete(i) {
			t.Errorf("the fast path does not know all of %s", r.When)
		}
	}
}

func TestLimits(t *testing.T) {
	env := newEnvironment(t)
	many := make([]string, custom.MaxItems+1)
	for i := range many {
		many[i] = fmt.Sprintf("attempt == %d", i)
	}
	long := "'" + strings.Repeat("\u00e4", custom.MaxExpression-len("'' == 'x'")) + "' == 'x'"
	for name, c := range map[string]struct {
		spec *v1alpha1.PodFailurePolicySpec
		want string
	}{
		"rules":                {rules(many...), "spec.rules:1:1: error: 65 items: at most 64 are allowed (limit)"},
		"the most rules":       {rules(many[1:]...), ""},
		"characters":           {rules(long + " "), "spec.rules[0].when:1:1: error: the expression has 4097 characters: at most 4096 are allowed (limit)"},
		"the most characters":  {rules(long), ""},
		"nested too deep":      {rules(strings.Repeat("!(", 300) + "true" + strings.Repeat(")", 300)), "spec.rules[0].when:1:1: error: "},
		"cost of all together": {rules(costly(40)...), "spec.rules:1:1: error: the expressions of the policy may cost "},
		"an empty expression":  {rules(""), "spec.rules[0].when:1:1: error: the expression ends too early (syntax)"},
		"no rules":             {rules(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := env.Compile(c.spec)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if err != nil {
				checkPlaces(t, err)
			}
		})
	}
}

// costly are rules that cost hundreds of thousands each.
func costly(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("pod.failedContainers().exists(c, c.message.matches('CUDA error ([0-9]+)|NCCL error ([0-9]+): unhandled system %d'))", i)
	}
	return texts
}

// TestVersions compiles for every version of Kubernetes. What an API server of that
// version does not know, the environment does not know.
func TestVersions(t *testing.T) {
	for _, c := range []struct {
		version, when string
		ok            bool
	}{
		{"1.28", "pod.failedContainers().exists(c, c.oomKilled)", true},
		{"1.28", "pod.status.?reason.orValue('') == 'Evicted'", true},
		{"1.28", "isIP(pod.metadata.name)", false},
		{"1.30", "isIP(pod.metadata.name)", true},
		{"1.33", "semver('1.0.0').isGreaterThan(semver('0.9.0'))", true},
		{"1.32", "semver('1.0.0').isGreaterThan(semver('0.9.0'))", false},
		{"1.36", "pod.failedContainers().exists(c, c.message.matches('('))", false},
		{"1.28", "pod.failedContainers().exists(c, c.message.matches('('))", false},
	} {
		t.Run(c.version+" "+c.when, func(t *testing.T) {
			env, err := custom.NewEnvironment(c.version)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := env.Compile(rules(c.when)); (err == nil) != c.ok {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := custom.NewEnvironment("1.2"); err == nil {
		t.Error("1.2 has an environment")
	}
}

// TestHintsCompile writes what hints propose, and expects nothing more to say.
func TestHintsCompile(t *testing.T) {
	env := newEnvironment(t)
	proposals := 0
	for _, spec := range goldenPolicies(t) {
		for _, f := range findingsOf(t, env, &spec) {
			text, ok := strings.CutPrefix(f.Hint, "write ")
			if !ok || !strings.HasPrefix(text, "pod.") && !strings.HasPrefix(text, "job.") {
				continue
			}
			proposals++
			text, _, _ = strings.Cut(text, ", or ask ")
			if found := findingsOf(t, env, &v1alpha1.PodFailurePolicySpec{Variables: []v1alpha1.Variable{{Name: "v", Expression: text}}}); len(found) > 0 {
				t.Errorf("%s proposes %s: %v", f, text, found)
			}
		}
	}
	if proposals < 5 {
		t.Errorf("only %d proposals", proposals)
	}
}

func TestErrorIsAllErrors(t *testing.T) {
	_, err := newEnvironment(t).Compile(rules("pod.fase == 'x'", "pod.status.reason == 'x'", "1 +"))
	var got *custom.Error
	if !errors.As(err, &got) || len(got.Findings) != 3 {
		t.Fatalf("got %v", err)
	}
	if got.Findings[1].Severity != compiler.Warning || strings.Contains(err.Error(), "warning") {
		t.Errorf("got %v", err)
	}
}
