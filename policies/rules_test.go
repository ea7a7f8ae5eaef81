package policies_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/podverdict/podverdict/policies"
)

var update = flag.Bool("update", false, "rewrite docs/rules.md")

const rulesPage = "../docs/rules.md"

// The page of all rules is written from their METADATA.
func TestRulesPage(t *testing.T) {
	page := rulesMarkdown(t)
	if *update {
		if err := os.WriteFile(rulesPage, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(rulesPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(have), page); diff != "" {
		t.Errorf("%s is stale, run make generate (-page +METADATA):\n%s", rulesPage, diff)
	}
}

func rulesMarkdown(t *testing.T) string {
	t.Helper()
	var page strings.Builder
	page.WriteString("# Rules\n\nEvery rule of the bundle in `policies/`, written from its METADATA by `make generate`.\n")
	for _, part := range []struct{ folder, text string }{
		{"job", "What the API server refuses about a Job or CronJob, in its words. `podverdict validate` reports them."},
		{"jobstatus", "What a write to a Job's status must keep: ST are the rules that the API server enforces, SN those that it leaves to the writer."},
		{"guardrails", "What a platform team may want beyond the API: `podverdict validate --guardrails`. Each can be turned off, and its parameters set, " +
			"in `data.podverdict.config.guardrails`."},
	} {
		fmt.Fprintf(&page, "\n## %s\n\n%s\n", part.folder, part.text)
		writeRules(t, &page, part.folder)
	}
	return page.String()
}

func writeRules(t *testing.T, page *strings.Builder, folder string) {
	t.Helper()
	described := map[string]*ast.Annotations{}
	for _, m := range modules(t, func(file string) bool { return isRule(file) && strings.HasPrefix(file, folder+"/") }) {
		for _, a := range m.Annotations {
			if id, ok := a.Custom["id"].(string); ok {
				described[id] = a
			}
		}
	}
	if len(described) == 0 {
		t.Fatalf("%s has no rules with an id", folder)
	}
	for _, id := range slices.SortedFunc(maps.Keys(described), compareIDs) {
		writeRule(page, id, described[id])
	}
}

func writeRule(page *strings.Builder, id string, a *ast.Annotations) {
	fmt.Fprintf(page, "\n### %s: %s\n\n`%s` · %s · %s\n", id, a.Title, a.Custom["field"], a.Custom["kep"], a.Custom["severity"])
	if text := strings.TrimSpace(a.Description); text != "" {
		fmt.Fprintf(page, "\n%s\n", text)
	}
	parameters, _ := a.Custom["parameters"].(map[string]any)
	for i, name := range slices.Sorted(maps.Keys(parameters)) {
		if i == 0 {
			page.WriteString("\n")
		}
		fmt.Fprintf(page, "- `%s`: %v\n", name, parameters[name])
	}
}

var numbered = regexp.MustCompile(`^([A-Z]+)([0-9]+)$`)

// compareIDs orders F2 before F10.
func compareIDs(a, b string) int {
	x, y := numbered.FindStringSubmatch(a), numbered.FindStringSubmatch(b)
	if x == nil || y == nil || x[1] != y[1] {
		return cmp.Compare(a, b)
	}
	m, _ := strconv.Atoi(x[2])
	n, _ := strconv.Atoi(y[2])
	return cmp.Compare(m, n)
}

// Rules reads the comments itself; what it finds is what OPA's parser finds.
func TestRulesAreTheAnnotations(t *testing.T) {
	rules, err := policies.Rules()
	if err != nil {
		t.Fatal(err)
	}
	var want []policies.Rule
	for file, m := range modules(t, isRule) {
		for _, a := range m.Annotations {
			if id, ok := a.Custom["id"].(string); ok {
				want = append(want, policies.Rule{
					ID: id, Folder: path.Dir(file), Title: a.Title, Description: strings.TrimSpace(a.Description),
					KEP: text(a, "kep"), Field: text(a, "field"), Severity: text(a, "severity"), Parameters: parameters(a),
				})
			}
		}
	}
	order := func(a, b policies.Rule) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Title, b.Title)) }
	slices.SortFunc(want, order)
	slices.SortFunc(rules, order)
	if diff := gocmp.Diff(want, rules); diff != "" {
		t.Errorf("-annotations +rules:\n%s", diff)
	}
}

func text(a *ast.Annotations, name string) string {
	value, _ := a.Custom[name].(string)
	return value
}

func parameters(a *ast.Annotations) map[string]string {
	described, ok := a.Custom["parameters"].(map[string]any)
	if !ok {
		return nil
	}
	all := map[string]string{}
	for name, value := range described {
		all[name] = fmt.Sprint(value)
	}
	return all
}
