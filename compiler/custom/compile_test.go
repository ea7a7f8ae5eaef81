package custom_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
)

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
		"rules":                {rules(many...), "spec.rules:1:1: error: 65 items: at most 64 are allowed (policy-too-large)"},
		"the most rules":       {rules(many[1:]...), ""},
		"characters":           {rules(long + " "), "spec.rules[0].when:1:1: error: the expression has 4097 characters: at most 4096 are allowed (policy-too-large)"},
		"the most characters":  {rules(long), ""},
		"nested too deep":      {rules(strings.Repeat("!(", 300) + "true" + strings.Repeat(")", 300)), "spec.rules[0].when:1:1: error: "},
		"cost of all together": {rules(costly(40)...), "spec.rules:1:1: error: the expressions of the policy may cost "},
		"an empty expression":  {rules(""), "spec.rules[0].when:1:1: error: the expression ends too early (expression-syntax)"},
		"no rules":             {rules(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := custom.Compile(env, c.spec)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if err != nil {
				checkPlaces(t, err)
			}
		})
	}
}

// costly returns n expressions that cost hundreds of thousands of units each.
func costly(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("pod.failedContainers().exists(c, c.message.matches('CUDA error ([0-9]+)|NCCL error ([0-9]+): unhandled system %d'))", i)
	}
	return texts
}

// TestVersions compiles for every Kubernetes version. The environment does not declare functions that an API
// server of that version lacks.
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
		{"1.37", "pod.failedContainers().exists(c, c.message.matches('('))", false},
		{"1.28", "pod.failedContainers().exists(c, c.message.matches('('))", false},
	} {
		t.Run(c.version+" "+c.when, func(t *testing.T) {
			env, err := compiler.NewEnvironment(c.version)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := custom.Compile(env, rules(c.when)); (err == nil) != c.ok {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := compiler.NewEnvironment("1.2"); err == nil {
		t.Error("1.2 has an environment")
	}
}

// TestRulesOnTerminatingReadTheNode checks that every rule on Terminating reads the node's readiness,
// because it decides only if the node is not Ready.
func TestRulesOnTerminatingReadTheNode(t *testing.T) {
	env := newEnvironment(t)
	for phase, want := range map[corev1.PodPhase]bool{v1alpha1.PhaseTerminating: true, corev1.PodRunning: false, corev1.PodFailed: false} {
		spec := rules("attempt > 3")
		spec.Rules[0].Phase = phase
		if reads := compile(t, env, spec).Reads; reads.Node.Has("NodeStatus", "conditions") != want || len(reads.Pod) > 0 {
			t.Errorf("a rule on %s reads %+v", phase, reads)
		}
	}
}

// TestReadsAreJoined checks that the joined reads of two policies contain the Pod, Job and Node fields of
// both.
func TestReadsAreJoined(t *testing.T) {
	env := newEnvironment(t)
	together := custom.NewReads()
	for _, when := range []string{"job.spec.completions == 1", "pod.spec.hostNetwork", "job.spec.parallelism == 1", "node.ready()"} {
		together.Add(compile(t, env, rules(when)).Reads)
	}
	want := compile(t, env, rules("job.spec.completions == 1", "pod.spec.hostNetwork", "job.spec.parallelism == 1", "node.ready()")).Reads
	if diff := cmp.Diff(want, together); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestHintsCompile applies the suggestions of hints, and expects no further findings.
func TestHintsCompile(t *testing.T) {
	env := newEnvironment(t)
	proposals := 0
	for _, spec := range fixtures.SpecsIn(t, "testdata/findings") {
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
	_, err := custom.Compile(newEnvironment(t), rules("pod.fase == 'x'", "pod.status.reason == 'x'", "1 +"))
	var got *custom.Error
	if !errors.As(err, &got) || len(got.Findings) != 3 {
		t.Fatalf("got %v", err)
	}
	if got.Findings[1].Severity != compiler.Warning || strings.Contains(err.Error(), "warning") {
		t.Errorf("got %v", err)
	}
}
