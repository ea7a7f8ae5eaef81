package main

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/podverdict/podverdict/compiler/admission"
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
# And not seven.
default _limit := 6

_limit := spec.limit if is_number(spec.limit)

# About nothing below.

breaches["G-A"] contains "x" if false
`
	want := []string{
		"findings: findings contains fields.required(\"X1\") if {\n\tfirst\n\n\t# not the end\n\tsecond\n}",
		"_limit: # Why six.\n# And not seven.\ndefault _limit := 6",
		"_limit: _limit := spec.limit if is_number(spec.limit)",
		"breaches: breaches[\"G-A\"] contains \"x\" if false",
	}
	read, err := statements("job", "job.rego", module)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range read {
		got = append(got, s.name+": "+s.text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBrokenModule(t *testing.T) {
	if _, err := statements("job", "job.rego", "package a\n\nb :="); err == nil || !strings.Contains(err.Error(), "job.rego:3") {
		t.Errorf("got %v", err)
	}
}

// A rule's template contains only the statements that the rule needs, from its own package and from imported
// packages.
func TestNeeded(t *testing.T) {
	known := append(parsed(t, "job", `
_a := _b
_b := fields.text(spec)
_c := 1
text := 2`), parsed(t, "fields", `
text(o) := _or(o)
_or(o) := o
_b := 3`)...)
	var got []string
	for _, s := range needed(known, parsed(t, "job", "# _c\nfindings contains _a if \"_c\" == \"_c\"")) {
		got = append(got, s.folder+"."+s.name)
	}
	if diff := cmp.Diff([]string{"job._a", "job._b", "fields.text", "fields._or"}, got); diff != "" {
		t.Error(diff)
	}
}

func parsed(t *testing.T, folder, rules string) []statement {
	t.Helper()
	all, err := statements(folder, folder+".rego", "package podverdict."+folder+"\n\n"+rules)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestGatekeeperHasEveryRule(t *testing.T) {
	kinds := map[string]string{}
	for _, load := range []func() (*admission.Catalogue, error){admission.Guardrails, admission.Constraints} {
		c, err := load()
		if err != nil {
			t.Fatal(err)
		}
		bundle, err := readBundle(policies.FS, c.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range c.Rules {
			kind := gatekeeperKind(r.ID)
			if other, ok := kinds[kind]; ok {
				t.Errorf("%s and %s have one kind", other, r.ID)
			}
			kinds[kind] = r.ID
			source, err := bundle.source(r)
			if err != nil {
				t.Fatal(err)
			}
			checkRego(t, r.ID, source)
		}
	}
}

// foreign matches text that Gatekeeper does not allow in a module, or that does not belong there.
var foreign = regexp.MustCompile(`\bimport\b|\bdata\.|\t|METADATA`)

// checkRego checks that a source consists of one rule and its dependencies, and that it meets the requirements of
// Gatekeeper and YAML.
func checkRego(t *testing.T, id string, source regoSource) {
	t.Helper()
	modules := map[string]string{}
	for i, module := range append([]string{source.Rego}, source.Libs...) {
		modules[strconv.Itoa(i)] = module
		rest := strings.ReplaceAll(module, "\nimport data.lib.podverdict.", "")
		if found := foreign.FindString(rest); found != "" {
			t.Errorf("%s: module %d has %q:\n%s", id, i, found, module)
		}
		if i > 0 && !strings.HasPrefix(module, "package lib.podverdict.") {
			t.Errorf("%s: module %d is no library:\n%s", id, i, module)
		}
	}
	if _, err := ast.CompileModulesWithOpt(modules, ast.CompileOpts{ParserOptions: ast.ParserOptions{RegoVersion: ast.RegoV1}}); err != nil {
		t.Errorf("%s: %v", id, err)
	}
	if rules := strings.Count(source.Rego, "\nfindings contains ") + strings.Count(source.Rego, "\nwarnings contains ") + strings.Count(source.Rego, "\nbreaches["); rules != 1 {
		t.Errorf("%s: %d rules:\n%s", id, rules, source.Rego)
	}
}

func TestRuleWithoutRego(t *testing.T) {
	bundle, err := readBundle(policies.FS, "guardrails")
	if err != nil {
		t.Fatal(err)
	}
	r := admission.Rule{}
	r.ID = "G-NOTHING"
	if _, err := bundle.source(r); err == nil || err.Error() != "G-NOTHING: nothing in the bundle finds it" {
		t.Errorf("got %v", err)
	}
}
