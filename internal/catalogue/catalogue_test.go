package catalogue_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/rego"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/policies"
)

var update = flag.Bool("update", false, "rewrite the list of rules and docs/rules.md")

// entry is a rule in pages/*.yaml.
type entry struct {
	ID       string   `json:"id"`
	Rego     string   `json:"rego"`
	Aliases  []string `json:"aliases"`
	Severity string   `json:"severity"`
	Title    string   `json:"title"`
	Field    string   `json:"field"`
	Source   string   `json:"source"`
	Why      string   `json:"why"`
	Fix      string   `json:"fix"`
	Old      string   `json:"old"`
	Bad      string   `json:"bad"`
	Good     string   `json:"good"`
}

// settings returns the default settings of guardrails by id.
func settings(t *testing.T) map[string]map[string]any {
	t.Helper()
	const file = "guardrails/defaults.rego"
	text, err := policies.FS.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	result, err := rego.New(rego.Query("data.podverdict.guardrails.defaults"), rego.Module(file, string(text))).Eval(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	value, err := json.Marshal(result[0].Expressions[0].Value)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]map[string]any
	if err := json.Unmarshal(value, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// build reads the rules from pages/ and from the Rego bundle.
func build(t *testing.T) []catalogue.Rule {
	t.Helper()
	described, err := policies.Rules()
	if err != nil {
		t.Fatal(err)
	}
	settings := settings(t)
	inRego := map[string]policies.Rule{}
	for _, r := range described {
		if r.Folder != "jobstatus" {
			inRego[r.ID] = r
		}
	}
	var rules []catalogue.Rule
	for _, group := range catalogue.Groups {
		text, err := os.ReadFile(filepath.Join("pages", string(group)+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var entries []entry
		if err := yaml.UnmarshalStrict(text, &entries); err != nil {
			t.Fatalf("%s: %v", group, err)
		}
		for _, e := range entries {
			r := catalogue.Rule{
				ID: e.ID, Aliases: e.Aliases, Group: group, Severity: e.Severity, Title: e.Title, Field: e.Field, Source: e.Source,
				Why: e.Why, Fix: e.Fix, Old: e.Old, Bad: e.Bad, Good: e.Good,
			}
			if e.Rego != "" {
				take(t, &r, e.Rego, inRego, settings[e.Rego])
			}
			rules = append(rules, r)
		}
	}
	for id := range inRego {
		t.Errorf("pages/ has nothing about %s of the Rego bundle", id)
	}
	return rules
}

// take copies the description of a rule from the Rego bundle, and removes it from the rules that remain to be described.
func take(t *testing.T, r *catalogue.Rule, id string, inRego map[string]policies.Rule, settings map[string]any) {
	t.Helper()
	d, ok := inRego[id]
	if !ok {
		t.Fatalf("%s: the Rego bundle has no rule %s, or it is described twice", r.ID, id)
	}
	delete(inRego, id)
	r.Aliases = append([]string{id}, r.Aliases...)
	r.Title, r.Field, r.Source, r.Severity = d.Title, d.Field, d.KEP, d.Severity
	if severity, given := settings["severity"].(string); given {
		r.Severity = severity
	}
	if d.Description != "" {
		r.Why = strings.TrimSpace(strings.Join(strings.Fields(d.Description), " ") + " " + r.Why)
	}
	names := []string{}
	for name := range d.Parameters {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		value, err := json.Marshal(settings[name])
		if err != nil || settings[name] == nil {
			t.Fatalf("%s: parameter %s has no default: %v", id, name, err)
		}
		r.Parameters = append(r.Parameters, catalogue.Parameter{Name: name, About: d.Parameters[name], Default: catalogue.Value(value)})
	}
	if enabled, given := settings["enabled"].(bool); given && !enabled {
		r.Parameters = append(r.Parameters, catalogue.Parameter{Name: "enabled", About: "whether the guardrail is asked", Default: "false"})
	}
}

// TestListIsCurrent generates the list of rules.
func TestListIsCurrent(t *testing.T) {
	want, err := json.MarshalIndent(build(t), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "rules.json", string(want)+"\n")
}

// golden compares a file with its expected content, or writes it.
func golden(t *testing.T, file, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(have), want); diff != "" {
		t.Errorf("%s is stale, run make generate (-file +want):\n%s", file, diff)
	}
}

// withoutExample lists rules that a short example cannot violate.
var withoutExample = []string{
	"exit-codes-too-many", "success-indexes-too-long", // the examples would be longer than the page
	"condition-status-missing",                                      // API defaults prevent it
	"policy-too-large",                                              // in manifests, invalid-field reports the same
	"expression-plan",                                               // no expression is known to trigger it
	"ignore-without-reason", "ignore-unknown-rule", "ignore-unused", // docs/check.md has examples
}

// TestRulesAreDescribed checks that each rule has a description and an id that describes the mistake.
func TestRulesAreDescribed(t *testing.T) {
	named := map[string]string{}
	name := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	for _, r := range catalogue.All() {
		for _, id := range append(slices.Clone(r.Aliases), r.ID) {
			if other, taken := named[id]; taken {
				t.Errorf("%s names %s and %s", id, other, r.ID)
			}
			named[id] = r.ID
			if found, ok := catalogue.Find(id); !ok || found.ID != r.ID {
				t.Errorf("Find(%s) = %s, %v", id, found.ID, ok)
			}
		}
		if !name.MatchString(r.ID) {
			t.Errorf("%s: an id is of lower-case words and hyphens", r.ID)
		}
		if r.Title == "" || r.Why == "" || r.Fix == "" || r.Source == "" || !slices.Contains([]string{"error", "warning"}, r.Severity) {
			t.Errorf("%s: something is missing: %+v", r.ID, r)
		}
		if without := slices.Contains(withoutExample, r.ID); (r.Bad == "") != without || (r.Good == "") != without {
			t.Errorf("%s: an example is missing, or not expected to be there", r.ID)
		}
	}
	if _, ok := catalogue.Find("F99"); ok {
		t.Error("F99 is found")
	}
}
