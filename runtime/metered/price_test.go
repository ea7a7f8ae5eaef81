package metered_test

import (
	"strings"
	"testing"

	"github.com/google/cel-go/cel"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime/metered"
)

// TestContentsArePaidFor: a call that looks at all of a list costs more by what is in it, maps and their texts included.
func TestContentsArePaidFor(t *testing.T) {
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	env, err := environment.FailedRules.Extend(cel.Variable("x", cel.ListType(cel.DynType)))
	if err != nil {
		t.Fatal(err)
	}
	checked, issues := env.Compile("x.distinct().size() > 0")
	if issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	program, err := metered.Plan(env, checked.NativeRep())
	if err != nil {
		t.Fatal(err)
	}
	cost := func(x any) uint64 {
		names, err := cel.NewActivation(map[string]any{"x": x})
		if err != nil {
			t.Fatal(err)
		}
		_, spent, err := program.Eval(t.Context(), names, 1<<40)
		if err != nil {
			t.Fatal(err)
		}
		return spent
	}
	long := strings.Repeat("a", 1000)
	least := cost([]any{map[string]string{"": ""}})
	for name, x := range map[string]any{
		"a text": []any{long}, "a text in a list": []any{[]string{long}},
		"a key": []any{map[string]string{long: ""}}, "a value": []any{map[string]string{"": long}},
	} {
		if got := cost(x); got < least+90 || got > least+110 {
			t.Errorf("%s of 1,000 bytes costs %d, and an empty one %d, want 100 more", name, got, least)
		}
	}
}
