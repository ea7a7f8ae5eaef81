package policies_test

import (
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/podverdict/podverdict/policies"
)

// guardrail is the METADATA of a guardrail.
type guardrail struct {
	id         string // id in the rule's reference, breaches[id]
	title      string
	custom     map[string]any
	parameters []string
}

var kep = regexp.MustCompile(`^KEP-\d+( [A-Z].*)?$`)

func TestGuardrailsAreDescribed(t *testing.T) {
	seen := map[string]string{}
	for _, g := range guardrails(t) {
		if g.custom["id"] != g.id {
			t.Errorf("%s: METADATA has id %v", g.id, g.custom["id"])
		}
		if text, _ := g.custom["kep"].(string); !kep.MatchString(text) {
			t.Errorf("%s: METADATA has kep %q, want a KEP's number and section", g.id, text)
		}
		if field, _ := g.custom["field"].(string); !strings.HasPrefix(field, "spec.") {
			t.Errorf("%s: METADATA has field %q, want a path from spec", g.id, field)
		}
		if other, ok := seen[g.title]; ok {
			t.Errorf("%s and %s have one title: %s", g.id, other, g.title)
		}
		seen[g.title] = g.id
	}
}

func TestGuardrailsHaveTheSettingsTheyDescribe(t *testing.T) {
	want := map[string][]string{}
	for _, g := range guardrails(t) {
		want[g.id] = g.parameters
	}
	got := map[string][]string{}
	for id, standard := range guardrailDefaults(t) {
		names := slices.Sorted(maps.Keys(standard))
		got[id] = slices.DeleteFunc(names, func(n string) bool { return n == "enabled" || n == "severity" })
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("settings (-METADATA +defaults.rego):\n%s", diff)
	}
}

// guardrails reads the METADATA of all rules named breaches.
func guardrails(t *testing.T) []guardrail {
	t.Helper()
	var found []guardrail
	for _, m := range guardrailModules(t) {
		for _, r := range m.Rules {
			if ref := r.Head.Ref(); len(ref) == 2 && ref[0].String() == "breaches" {
				found = append(found, newGuardrail(t, r))
			}
		}
	}
	if len(found) == 0 {
		t.Fatal("no guardrails")
	}
	return found
}

func newGuardrail(t *testing.T, r *ast.Rule) guardrail {
	t.Helper()
	ref := r.Head.Ref()
	if len(r.Annotations) != 1 || r.Annotations[0].Title == "" || r.Annotations[0].Description == "" {
		t.Fatalf("%s has no METADATA, or none with title and description", ref)
	}
	a := r.Annotations[0]
	parameters, _ := a.Custom["parameters"].(map[string]any)
	return guardrail{
		id:         strings.Trim(ref[1].String(), `"`),
		title:      a.Title,
		custom:     a.Custom,
		parameters: slices.Sorted(maps.Keys(parameters)),
	}
}

func guardrailModules(t *testing.T) map[string]*ast.Module {
	t.Helper()
	files, err := fs.Glob(policies.FS, "guardrails/*.rego")
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]*ast.Module{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.rego") {
			continue
		}
		text, err := fs.ReadFile(policies.FS, file)
		if err != nil {
			t.Fatal(err)
		}
		modules[file], err = ast.ParseModuleWithOpts(file, string(text), ast.ParserOptions{ProcessAnnotation: true})
		if err != nil {
			t.Fatal(err)
		}
	}
	return modules
}

func guardrailDefaults(t *testing.T) map[string]map[string]any {
	t.Helper()
	options := []func(*rego.Rego){rego.Query("data.podverdict.guardrails.defaults")}
	for _, m := range modules(t, isRule) {
		options = append(options, rego.ParsedModule(m))
	}
	results, err := rego.New(options...).Eval(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defaults := map[string]map[string]any{}
	for id, settings := range results[0].Expressions[0].Value.(map[string]any) {
		defaults[id] = settings.(map[string]any)
	}
	return defaults
}
