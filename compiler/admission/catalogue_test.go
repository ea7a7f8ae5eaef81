package admission

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/policies"
)

// withoutTwin maps the rules without a CEL counterpart to the reason.
var withoutTwin = map[string]string{
	"F15": "the status of a condition pattern is True where there is none, so that nobody meets this rule",
}

// TestEveryRuleHasATwin checks that every rule of the bundle that validates a Job has a CEL
// counterpart.
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

// TestCatalogueIsChecked checks that a mistake in a catalogue is reported with its position.
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
		_, err := read([]byte(tc.text), described, nil)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.text, err, tc.want)
		}
	}
}

// TestNamesAreChecked checks that the API server's type checker finds undefined names.
func TestNamesAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		"{id: G-A, messages: '[rooot]'}":                                    "undefined field 'rooot'",
		"{id: G-A, settings: {max: 1}, messages: '[string(settings.min)]'}": "Syntax error",
	} {
		c, err := read([]byte("rules: ["+text+"]"), []policies.Rule{{ID: "G-A"}}, nil)
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
