package runtime_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime"
)

// FuzzExpression checks that both ways of evaluation agree for any text that is a valid rule, and that an invalid text has findings with
// positions. The seeds are expressions of the language, most of them randomly broken.
func FuzzExpression(f *testing.F) {
	for seed := range uint64(draws(500, 100)) {
		r := rand.New(rand.NewPCG(seed, 3))
		text := (&writer{Rand: r}).bool(r.IntN(4))
		for range r.IntN(3) {
			text = broken(r, text)
		}
		f.Add(text, seed)
	}
	env := newEnvironment(f)
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		policy, err := newPolicy(env, rules(text))
		if invalid, ok := errors.AsType[*custom.Error](err); ok {
			for _, f := range invalid.Findings {
				if lines := strings.Split(text, "\n"); f.Line < 1 || f.Line > len(lines) || f.Column < 1 || f.Column > utf8.RuneCountInString(lines[f.Line-1])+1 {
					t.Fatalf("%q: %v", text, f)
				}
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(seed, 6))
		for range 3 {
			in := runtime.Input{Pod: plausiblePod(r), Job: plausibleJob(r), Attempt: int64(1 + r.IntN(5)), Now: someTime}
			in.Pod.Status.Phase = "Failed"
			if got, want := outcome(t.Context(), policy, in), outcome(t.Context(), policy.Interpreted(), in); got != want {
				t.Fatalf("%q on %+v: got %s, want %s", text, in.Pod, got, want)
			}
			// CEL counts some selections, from optionals and from call results, twice when it evaluates them and once when it estimates.
			if cost := policy.ActualCost(0, in); cost > 2*policy.Compiled.Cost || policy.Compiled.Cost > compiler.CostLimit {
				t.Fatalf("%q cost %d, and was to cost at most %d", text, cost, policy.Compiled.Cost)
			}
		}
	})
}

// tokens break an expression in interesting ways.
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
