package metered_test

import (
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime/metered"
)

// TestMembership: looking a value up in a list of literals says what CEL says, and costs as much only where it is not a lookup.
func TestMembership(t *testing.T) {
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	env, err := environment.FailedRules.Extend(cel.Variable("x", cel.DynType))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		x    any
		want types.Bool
		cost uint64
	}{
		{"x in [1, 2, 300]", int64(300), true, 1},
		{"x in [1, 2, 300]", int64(3), false, 1},
		{"x in [1, 2, 300]", 2.0, true, 5},
		{"x in [1, 2, 300]", uint64(2), true, 5},
		{"x in [1, 2, 300]", "2", false, 5},
		{"x in ['a', 'b']", "b", true, 1},
		{"x in ['a', 'b']", "c", false, 1},
		{"x in ['a', 'b']", int64(1), false, 4},
	} {
		checked, issues := env.Compile(c.text)
		if issues.Err() != nil {
			t.Fatal(issues.Err())
		}
		program, err := metered.Plan(env, checked.NativeRep())
		if err != nil {
			t.Fatal(err)
		}
		names, err := cel.NewActivation(map[string]any{"x": c.x})
		if err != nil {
			t.Fatal(err)
		}
		got, cost, err := program.Eval(t.Context(), names, 1000)
		if err != nil || got != c.want || cost != c.cost {
			t.Errorf("%s, x = %v: %v at a cost of %d, %v, want %v at %d", c.text, c.x, got, cost, err, c.want, c.cost)
		}
	}
}
