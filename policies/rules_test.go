package policies_test

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/podverdict/podverdict/policies"
)

// Rules parses the comments itself; the result must equal the annotations parsed by OPA.
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
