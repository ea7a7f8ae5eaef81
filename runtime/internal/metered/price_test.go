package metered_test

import (
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime/internal/metered"
)

// TestContentsArePaidFor checks that the cost of a call that reads a whole list includes the list's contents, including maps
// and their texts.
func TestContentsArePaidFor(t *testing.T) {
	long := strings.Repeat("a", 1000)
	for _, c := range []struct {
		name, text  string
		short, long any
	}{
		{"a text", "list.distinct().size() > 0", []any{""}, []any{long}},
		{"a text in a list", "list.distinct().size() > 0", []any{[]string{""}}, []any{[]string{long}}},
		{"a key", "list.distinct().size() > 0", []any{map[string]string{"": ""}}, []any{map[string]string{long: ""}}},
		{"a value", "list.distinct().size() > 0", []any{map[string]string{"": ""}}, []any{map[string]string{"": long}}},
		{"a text that is compared", "list == list", []any{[]string{""}}, []any{[]string{long}}},
		{"a text that is looked for", "list.includes(list[0])", []any{""}, []any{long}},
		{"a map that is no list", "list[0].includes(list[0])", []any{map[string]string{"": ""}}, []any{map[string]string{"": long}}},
		{"what is sorted by", "maps.sortBy(e, e['by']).size() > 0", []any{map[string]string{"by": ""}}, []any{map[string]string{"by": long}}},
	} {
		_, least := evaluated(t, c.text, c.short)
		_, got := evaluated(t, c.text, c.long)
		if got < least+90 || got > least+110 {
			t.Errorf("%s of 1,000 bytes costs %d, and an empty one %d, want 100 more", c.name, got, least)
		}
	}
}

// TestMembership checks that membership in a list of literals has CEL's result, and costs more only if it is not a lookup.
func TestMembership(t *testing.T) {
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
		got, cost := evaluated(t, c.text, c.x)
		if got != c.want || cost != c.cost {
			t.Errorf("%s, x = %v: %v at a cost of %d, want %v at %d", c.text, c.x, got, cost, c.want, c.cost)
		}
	}
}

// evaluated returns the value of an expression and its cost. The expression refers to the given value as x, list or maps.
func evaluated(t *testing.T, text string, value any) (ref.Val, uint64) {
	t.Helper()
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	env, err := environment.FailedRules.Extend(
		cel.Variable("x", cel.DynType), cel.Variable("list", cel.ListType(cel.DynType)),
		cel.Variable("maps", cel.ListType(cel.MapType(cel.StringType, cel.StringType))))
	if err != nil {
		t.Fatal(err)
	}
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	program, err := metered.Plan(env, checked.NativeRep())
	if err != nil {
		t.Fatal(err)
	}
	names, err := cel.NewActivation(map[string]any{"x": value, "list": value, "maps": value})
	if err != nil {
		t.Fatal(err)
	}
	got, spent, err := program.Eval(t.Context(), names, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	return got, spent
}
