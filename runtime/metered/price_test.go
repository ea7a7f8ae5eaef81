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
		least, got := cost(t, c.text, c.short), cost(t, c.text, c.long)
		if got < least+90 || got > least+110 {
			t.Errorf("%s of 1,000 bytes costs %d, and an empty one %d, want 100 more", c.name, got, least)
		}
	}
}

// cost returns the cost of an expression that looks at a list.
func cost(t *testing.T, text string, list any) uint64 {
	t.Helper()
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	env, err := environment.FailedRules.Extend(
		cel.Variable("list", cel.ListType(cel.DynType)), cel.Variable("maps", cel.ListType(cel.MapType(cel.StringType, cel.StringType))))
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
	names, err := cel.NewActivation(map[string]any{"list": list, "maps": list})
	if err != nil {
		t.Fatal(err)
	}
	_, spent, err := program.Eval(t.Context(), names, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	return spent
}
