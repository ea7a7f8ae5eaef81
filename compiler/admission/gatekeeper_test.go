package admission

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/policies"
)

func TestStatements(t *testing.T) {
	module := `# METADATA
# title: Jobs
package podverdict.job

import data.podverdict.fields

# What this file is about.

# METADATA
# title: A rule
findings contains fields.required("X1") if {
	first

	# not the end
	second
}

# Why six.
default _limit := 6

_limit := spec.limit if is_number(spec.limit)
`
	want := []statement{
		{"job", "findings", "findings contains fields.required(\"X1\") if {\n\tfirst\n\n\t# not the end\n\tsecond\n}"},
		{"job", "_limit", "# Why six.\ndefault _limit := 6"},
		{"job", "_limit", "_limit := spec.limit if is_number(spec.limit)"},
	}
	if diff := cmp.Diff(want, statements("job", module), cmp.AllowUnexported(statement{})); diff != "" {
		t.Error(diff)
	}
}

// Only what a rule needs is in its template: of its own package, and of those that it imports.
func TestNeeded(t *testing.T) {
	known := []statement{
		{"job", "_a", "_a := _b"},
		{"job", "_b", "_b := fields.text(spec)"},
		{"job", "_c", "_c := 1"},
		{"job", "text", "text := 2"},
		{"fields", "text", "text(o) := _or(o)"},
		{"fields", "_or", "_or(o) := o"},
		{"fields", "_b", "_b := 3"},
	}
	var got []string
	for _, s := range needed(known, []statement{{"job", "findings", "# _c\nfindings contains _a"}}) {
		got = append(got, s.folder+"."+s.name)
	}
	if diff := cmp.Diff([]string{"job._a", "job._b", "fields.text", "fields._or"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestGatekeeperHasEveryRule(t *testing.T) {
	selections, err := Select([]string{"*", "G-REPLACEMENT-INDEXED"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{}
	for _, s := range selections {
		rules, err := s.Gatekeeper(nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(rules) != len(s.Rules) {
			t.Errorf("%s: %d templates for %d rules", s.catalogue.Name, len(rules), len(s.Rules))
		}
		for i, r := range rules {
			if other, ok := kinds[r.Constraint.Kind]; ok {
				t.Errorf("%s and %s have one kind", other, s.Rules[i].ID)
			}
			kinds[r.Constraint.Kind] = s.Rules[i].ID
			checkRego(t, s.Rules[i].ID, r.Template.Spec.Targets[0].Code[1].Source.(regoSource))
		}
	}
}

// foreign is what a module for Gatekeeper cannot have, or should not.
var foreign = regexp.MustCompile(`\bimport\b|\bdata\.|\t|METADATA`)

// checkRego holds that a source has the one rule, and what Gatekeeper and YAML want of its modules.
func checkRego(t *testing.T, id string, source regoSource) {
	t.Helper()
	for i, module := range append([]string{source.Rego}, source.Libs...) {
		rest := strings.ReplaceAll(module, "\nimport data.lib.podverdict.", "")
		if found := foreign.FindString(rest); found != "" {
			t.Errorf("%s: module %d has %q:\n%s", id, i, found, module)
		}
		if i > 0 && !strings.HasPrefix(module, "package lib.podverdict.") {
			t.Errorf("%s: module %d is no library:\n%s", id, i, module)
		}
	}
	if rules := strings.Count(source.Rego, "\nfindings contains ") + strings.Count(source.Rego, "\nwarnings contains ") + strings.Count(source.Rego, "\nbreaches["); rules != 1 {
		t.Errorf("%s: %d rules:\n%s", id, rules, source.Rego)
	}
}

func TestRuleWithoutRego(t *testing.T) {
	c, err := Guardrails()
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := readBundle(policies.FS, c)
	if err != nil {
		t.Fatal(err)
	}
	r := Rule{}
	r.ID = "G-NOTHING"
	if _, err := bundle.source(r); err == nil || err.Error() != "G-NOTHING: nothing in the bundle finds it" {
		t.Errorf("got %v", err)
	}
}
