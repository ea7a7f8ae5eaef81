package custom_test

import (
	"errors"
	"flag"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/custom"
)

// FuzzCompile compiles any text as a rule, a variable and a message. What is refused
// has a place; what is not costs no more than was said, and has the same answer on
// both ways of evaluation.
func FuzzCompile(f *testing.F) {
	for _, spec := range goldenPolicies(f) {
		for _, r := range spec.Rules {
			f.Add(r.When, uint64(1))
		}
	}
	for seed := range uint64(20) {
		w := &writer{Rand: rand.New(rand.NewPCG(seed, 5))}
		f.Add(w.bool(2), seed)
	}
	env := newEnvironment(f)
	f.Fuzz(func(t *testing.T, text string, seed uint64) { holdsFor(t, env, text, seed) })
}

// holdsFor is the oracle of FuzzCompile and TestRandomExpressions. It says whether
// the text is a rule.
func holdsFor(t *testing.T, env *custom.Environment, text string, seed uint64) bool {
	t.Helper()
	spec := rules(text)
	spec.Variables = []v1alpha1.Variable{{Name: "v", Expression: text}}
	spec.Rules[0].MessageExpression = text
	if policy, err := env.Compile(spec); err == nil {
		t.Fatalf("%q is a bool and a string: %+v", text, policy)
	} else {
		checkPlaces(t, err)
	}
	policy, err := env.Compile(rules(text))
	if err != nil {
		checkPlaces(t, err)
		return false
	}
	for _, f := range policy.Warnings {
		checkPlace(t, f)
	}
	r := rand.New(rand.NewPCG(seed, 6))
	for range 3 {
		in := custom.Input{Pod: plausiblePod(r), Job: plausibleJob(r), Attempt: int64(1 + r.IntN(5)), Now: someTime}
		in.Pod.Status.Phase = "Failed"
		if got, want := outcome(t.Context(), policy, in), outcome(t.Context(), policy.Interpreted(), in); got != want {
			t.Fatalf("%q on %+v: got %s, want %s", text, in.Pod, got, want)
		}
		// CEL counts some selections, those from optionals and from what calls return,
		// twice when it evaluates them and once when it estimates.
		if cost := policy.ActualCost(0, in); cost > 2*policy.Cost || policy.Cost > custom.CostLimit {
			t.Fatalf("%q cost %d, and was to cost at most %d", text, cost, policy.Cost)
		}
	}
	return true
}

func checkPlaces(t *testing.T, err error) {
	t.Helper()
	var invalid *custom.Error
	if !errors.As(err, &invalid) || err.Error() == "" {
		t.Fatalf("%T without an error: %v", err, err)
	}
	for _, f := range invalid.Findings {
		checkPlace(t, f)
	}
}

// goldenPolicies are those of testdata/findings.
func goldenPolicies(tb testing.TB) []v1alpha1.PodFailurePolicySpec {
	tb.Helper()
	files, err := filepath.Glob("testdata/findings/*.txtar")
	if err != nil || len(files) == 0 {
		tb.Fatal(files, err)
	}
	specs := make([]v1alpha1.PodFailurePolicySpec, len(files))
	for i, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(archive.Files[0].Data, &specs[i]); err != nil {
			tb.Fatal(err)
		}
	}
	return specs
}

var expressions = flag.Int("expressions", 500, "how many random expressions TestRandomExpressions compiles")

// TestRandomExpressions compiles expressions of the language, most of which are then
// broken at random.
func TestRandomExpressions(t *testing.T) {
	env := newEnvironment(t)
	valid := 0
	for seed := range uint64(*expressions) {
		r := rand.New(rand.NewPCG(seed, 3))
		text := (&writer{Rand: r}).bool(r.IntN(4))
		for range r.IntN(3) {
			text = broken(r, text)
		}
		if holdsFor(t, env, text, seed) {
			valid++
		}
	}
	t.Logf("%d of %d expressions are valid", valid, *expressions)
	if valid < *expressions/10 || valid > *expressions*9/10 {
		t.Errorf("%d of %d expressions are valid: there should be many of both", valid, *expressions)
	}
}

// tokens are what breaks an expression in interesting ways.
var tokens = []string{
	"(", ")", "[", "]", ".", ".?", "?", ":", ",", "'", `"`, "&&", "||", "!", "==", " in ", "pod", "job", "attempt", "now", "variables.v", "dyn(", "has(",
	"0", "1u", "1.5", "null", "true", "b'x'", "{}", "[]", "{'a': 1}", "Pod{}", ".map(x, x)", ".exists(x, x)", ".size()", "type(", "\n", "\x00", "\u00e9", "//",
}

func broken(r *rand.Rand, text string) string {
	letters := []rune(text)
	if len(letters) == 0 {
		return pick(r, tokens)
	}
	i := r.IntN(len(letters))
	switch r.IntN(4) {
	case 0:
		return string(slices.Delete(letters, i, i+1))
	case 1:
		return string(letters[:i]) + pick(r, tokens) + string(letters[i:])
	case 2:
		return string(letters[:i])
	default:
		words := strings.Fields(text)
		a, b := r.IntN(len(words)), r.IntN(len(words))
		words[a], words[b] = words[b], words[a]
		return strings.Join(words, " ")
	}
}
