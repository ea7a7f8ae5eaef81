package admission

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
	oparego "github.com/open-policy-agent/opa/v1/rego"

	"github.com/podverdict/podverdict/policies"
	"github.com/podverdict/podverdict/runtime/rego"
)

// withoutTwin are the rules that have none, and why.
var withoutTwin = map[string]string{
	"F15": "the status of a condition pattern is True where there is none, so that nobody meets this rule",
}

// Every rule of the bundle that judges a Job has a twin.
func TestEveryRuleHasATwin(t *testing.T) {
	described, err := policies.Rules()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, r := range described {
		if (r.Folder == "guardrails" || r.Folder == "job") && withoutTwin[r.ID] == "" {
			want = append(want, r.ID)
		}
	}
	var have []string
	for _, load := range []func() (*Catalogue, error){Guardrails, Constraints} {
		c, err := load()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range c.Rules {
			have = append(have, r.ID)
		}
	}
	slices.Sort(want)
	slices.Sort(have)
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("-bundle +twins:\n%s", diff)
	}
}

// The settings before any configuration are those of the bundle.
func TestSettingsAreThoseOfTheBundle(t *testing.T) {
	bundle, err := rego.Load(policies.FS)
	if err != nil {
		t.Fatal(err)
	}
	compiler := ast.NewCompiler().WithDefaultRegoVersion(ast.RegoV1)
	if compiler.Compile(bundle.ParsedModules("")); compiler.Failed() {
		t.Fatal(compiler.Errors)
	}
	results, err := oparego.New(oparego.Compiler(compiler), oparego.Query("data.podverdict.guardrails.defaults"),
		oparego.SetRegoVersion(ast.RegoV1)).Eval(t.Context())
	if err != nil || len(results) != 1 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	c, err := Guardrails()
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]Settings{}
	for _, r := range c.Rules {
		have[r.ID] = r.Settings
		if r.Severity != r.Settings["severity"] {
			t.Errorf("%s is %s in its METADATA and %v in its settings", r.ID, r.Severity, r.Settings["severity"])
		}
		checkParameters(t, r)
	}
	if diff := cmp.Diff(plain(t, results[0].Expressions[0].Value), plain(t, have)); diff != "" {
		t.Errorf("-bundle +twins:\n%s", diff)
	}
}

// checkParameters holds that what METADATA describe are the settings.
func checkParameters(t *testing.T, r Rule) {
	t.Helper()
	for name := range r.Settings {
		if name != "enabled" && name != "severity" && r.Parameters[name] == "" {
			t.Errorf("%s: METADATA do not describe the parameter %s", r.ID, name)
		}
	}
	for name := range r.Parameters {
		if _, ok := r.Settings[name]; !ok {
			t.Errorf("%s: METADATA describe a parameter %s that there is not", r.ID, name)
		}
	}
}

func plain(t *testing.T, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var all any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// A catalogue with a mistake is refused, with its place.
func TestCatalogueIsChecked(t *testing.T) {
	described := []policies.Rule{{ID: "G-A"}, {ID: "G-B"}}
	for _, tc := range []struct{ text, want string }{
		{"rules: [{id: G-A, messages: '[root]'}, {id: G-B, fields: '[root]', detail: '\"d\"'}]", ""},
		{"rules: [{id: G-C, messages: '[root]'}]", "G-C: no rule of the bundle"},
		{"rules: [{id: G-A, message: '[root]'}]", `unknown field "rules[0].message"`},
		{"rules: [{id: G-A}]", "G-A: a rule has either"},
		{"rules: [{id: G-A, fields: '[root]'}]", "G-A: a rule has either"},
		{"rules: [{id: G-A, messages: '[root'}]", "G-A: messages: "},
		{"rules: [{id: G-A, settings: {max: 1.5}, messages: '[root]'}]", "G-A: settings: max"},
	} {
		_, err := read([]byte(tc.text), described)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.text, err, tc.want)
		}
	}
}

// A name that stands for nothing is found by the API server's type checker.
func TestNamesAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		"{id: G-A, messages: '[rooot]'}":                                    "undefined field 'rooot'",
		"{id: G-A, settings: {max: 1}, messages: '[string(settings.min)]'}": "Syntax error",
	} {
		c, err := read([]byte("rules: ["+text+"]"), []policies.Rule{{ID: "G-A"}})
		if err != nil {
			t.Fatal(err)
		}
		c.Name = "guardrails"
		s, err := c.Select([]string{"G-A"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Policies(Options{Name: "a", Kubernetes: "1.37", Target: jobTarget(t), Actions: DefaultActions()})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
