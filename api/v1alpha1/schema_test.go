package v1alpha1_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// place is a part of a schema with its path, such as spec.rules[].name.
type place struct {
	path     string
	required bool
	apiextensionsv1.JSONSchemaProps
}

func (p place) name() string { return p.path[strings.LastIndex(p.path, ".")+1:] }

// places returns all parts of the spec and status of a kind, except those of Kubernetes' own conditions.
func places(t *testing.T, resource string) []place {
	t.Helper()
	text, err := os.ReadFile("../../config/crd/podverdict.io_" + resource + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	var d apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &d); err != nil {
		t.Fatal(err)
	}
	var all []place
	for _, name := range []string{"spec", "status"} {
		all = append(all, below(place{name, true, d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties[name]})...)
	}
	if len(all) < 10 {
		t.Fatalf("the schema of %s has %d places", resource, len(all))
	}
	return all
}

func below(p place) []place {
	all := []place{p}
	if strings.HasSuffix(p.path, ".conditions") {
		return all
	}
	for _, name := range slices.Sorted(maps.Keys(p.Properties)) {
		all = append(all, below(place{p.path + "." + name, slices.Contains(p.Required, name), p.Properties[name]})...)
	}
	if p.Items != nil {
		all = append(all, below(place{p.path + "[]", true, *p.Items.Schema})...)
	}
	if p.AdditionalProperties != nil {
		all = append(all, below(place{p.path + "{}", true, *p.AdditionalProperties.Schema})...)
	}
	return all
}

func everyPlace(t *testing.T) []place {
	t.Helper()
	return slices.Concat(places(t, v1alpha1.ResourcePodFailurePolicies), places(t, v1alpha1.ResourcePodFailurePolicyBindings))
}

// Every field has a limit, and a description that names the limit.
func TestEverythingHasALimitAndADescription(t *testing.T) {
	for _, p := range everyPlace(t) {
		limited := true
		switch p.Type {
		case "string":
			limited = p.MaxLength != nil || p.Enum != nil
		case "integer":
			limited = p.Minimum != nil
		case "array":
			limited = p.MaxItems != nil && p.XListType != nil
		case "object":
			limited = p.AdditionalProperties == nil || p.MaxProperties != nil
		}
		if !limited {
			t.Errorf("%s has no limit", p.path)
		}
		if strings.HasSuffix(p.path, "]") || strings.HasSuffix(p.path, "}") {
			continue
		}
		if !strings.HasPrefix(p.Description, p.name()+" ") {
			t.Errorf("%s: its description does not start with its name: %q", p.path, p.Description)
		}
	}
}

// The limits in Go equal the limits in the schemas.
func TestLimitsAreThoseOfTheSchemas(t *testing.T) {
	want := map[string]int64{
		"spec.matchConditions maxItems":                    v1alpha1.MaxConditions,
		"spec.variables maxItems":                          v1alpha1.MaxVariables,
		"spec.rules maxItems":                              v1alpha1.MaxRules,
		"spec.rules[].name maxLength":                      v1alpha1.MaxName,
		"spec.variables[].name maxLength":                  v1alpha1.MaxName,
		"spec.rules[].when maxLength":                      v1alpha1.MaxExpression,
		"spec.rules[].messageExpression maxLength":         v1alpha1.MaxExpression,
		"spec.variables[].expression maxLength":            v1alpha1.MaxExpression,
		"spec.matchConditions[].expression maxLength":      v1alpha1.MaxExpression,
		"spec.rules[].reason maxLength":                    v1alpha1.MaxReason,
		"spec.rules[].budget.limit maximum":                v1alpha1.MaxBudget,
		"spec.namespaceSelector.matchLabels maxItems":      v1alpha1.MaxSelector,
		"status.typeChecking.findings maxItems":            v1alpha1.MaxFindings,
		"status.typeChecking.findings[].message maxLength": v1alpha1.MaxFindingMessage,
	}
	for _, p := range everyPlace(t) {
		found := map[string]*int64{"maxItems": p.MaxItems, "maxLength": p.MaxLength}
		if p.MaxProperties != nil {
			found["maxItems"] = p.MaxProperties
		}
		if p.Maximum != nil {
			maximum := int64(*p.Maximum)
			found["maximum"] = &maximum
		}
		for keyword, value := range found {
			id := p.path + " " + keyword
			if limit, wanted := want[id]; wanted {
				delete(want, id)
				if value == nil || *value != limit {
					t.Errorf("%s is %v, want %d", id, value, limit)
				}
			}
		}
	}
	for id := range want {
		t.Errorf("the schemas have no %s", id)
	}
}

// Optional strings must not be empty, because Go cannot distinguish empty from missing strings.
func TestOptionalTextsMustNotBeEmpty(t *testing.T) {
	checked := 0
	for _, p := range everyPlace(t) {
		if p.Type != "string" || p.required || strings.HasPrefix(p.path, "status") {
			continue
		}
		checked++
		object := `""`
		for path := p.path; path != ""; {
			switch i := strings.LastIndexAny(path, ".]"); {
			case i >= 0 && path[i] == ']' && i == len(path)-1:
				object, path = "["+object+"]", strings.TrimSuffix(path, "[]")
			default:
				object, path = `{"`+path[i+1:]+`":`+object+"}", path[:max(i, 0)]
			}
		}
		if found := v1alpha1.ValidateJSON([]byte(object)); len(found) != 1 || !strings.Contains(found[0].Field, p.name()) {
			t.Errorf("%s: %v", object, found)
		}
	}
	if checked != 12 {
		t.Errorf("%d texts may be left out", checked)
	}
}
