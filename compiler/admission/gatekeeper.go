package admission

import (
	"maps"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/podverdict/podverdict/policies"
)

// GatekeeperRule is a rule for OPA Gatekeeper, as objects of its API.
type GatekeeperRule struct {
	// Template is a ConstraintTemplate (templates.gatekeeper.sh/v1) with the rule in Rego.
	Template map[string]any
	// Constraint (constraints.gatekeeper.sh/v1beta1) puts the template in force.
	Constraint map[string]any
}

// Gatekeeper writes each rule of the selection that is enabled as a template of its own, with a constraint that has the
// selection's settings and is not in force in the namespaces that are exempt, as in kube-*. A rule for each template is
// what users of Gatekeeper expect; it also leaves each the whole of Gatekeeper's CEL budget, a tenth of the API server's.
func (s *Selection) Gatekeeper(exempt []string) ([]GatekeeperRule, error) {
	bundle, err := readBundle(policies.FS, s.catalogue)
	if err != nil {
		return nil, err
	}
	var all []GatekeeperRule
	for _, r := range s.enabled() {
		rego, err := bundle.source(r)
		if err != nil {
			return nil, err
		}
		all = append(all, GatekeeperRule{template(r, rego), constraint(r, exempt)})
	}
	return all, nil
}

// gatekeeperKind returns the kind of a rule's constraints: PodverdictBackoffLimit for G-BACKOFF-LIMIT. A template is named as
// its kind, in lower case.
func gatekeeperKind(id string) string {
	name := property(id)
	return "Podverdict" + strings.ToUpper(name[:1]) + name[1:]
}

// property returns a guardrail's id as the name of a member: indexLimit for G-INDEX-LIMIT.
func property(id string) string {
	words := strings.Split(strings.ToLower(strings.TrimPrefix(id, "G-")), "-")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

func template(r Rule, rego regoSource) map[string]any {
	kind := gatekeeperKind(r.ID)
	annotations := map[string]string{"metadata.gatekeeper.sh/title": r.ID + ": " + r.Title}
	if r.Description != "" {
		annotations["description"] = strings.Join(strings.Fields(r.Description), " ")
	}
	constraints := map[string]any{"names": map[string]any{"kind": kind}}
	if parameters := parametersOf(r); len(parameters) > 0 {
		constraints["validation"] = map[string]any{"openAPIV3Schema": parametersSchema(r, parameters)}
	}
	return map[string]any{
		"apiVersion": "templates.gatekeeper.sh/v1", "kind": "ConstraintTemplate",
		"metadata": map[string]any{"name": strings.ToLower(kind), "labels": partOf(), "annotations": annotations},
		"spec": map[string]any{
			"crd": map[string]any{"spec": constraints},
			"targets": []any{map[string]any{
				"target": "admission.k8s.gatekeeper.sh",
				"code":   []any{map[string]any{"engine": "Rego", "source": rego}},
			}},
		},
	}
}

// parametersSchema returns the schema of the settings that are a constraint's parameters.
func parametersSchema(r Rule, parameters Settings) apiextensionsv1.JSONSchemaProps {
	s := apiextensionsv1.JSONSchemaProps{Type: "object", Description: r.Title + ".", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for name, value := range parameters {
		property := valueSchema(name, value)
		property.Description = r.Parameters[name]
		property.Default = &apiextensionsv1.JSON{Raw: []byte(literal(value))}
		s.Properties[name] = property
	}
	_, least := parameters["min"]
	_, most := parameters["max"]
	if least && most {
		s.XValidations = apiextensionsv1.ValidationRules{{
			Rule: "!has(self.min) || !has(self.max) || self.min <= self.max", Message: "min must be less than or equal to max",
		}}
	}
	return s
}

const maxItems = 255

func valueSchema(name string, value any) apiextensionsv1.JSONSchemaProps {
	lowest, highest, fewest, most := 0.0, float64(maxNumber), int64(1), int64(maxItems)
	if name == maxPercent {
		highest = 100
	}
	number := apiextensionsv1.JSONSchemaProps{Type: "integer", Minimum: &lowest, Maximum: &highest}
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	for _, choice := range choices[name] {
		text.Enum = append(text.Enum, apiextensionsv1.JSON{Raw: []byte(quote(choice))})
	}
	list := func(items apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{
			Type: "array", MinItems: &fewest, MaxItems: &most, Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &items},
		}
	}
	switch value.(type) {
	case bool:
		return apiextensionsv1.JSONSchemaProps{Type: "boolean"}
	case int64:
		return number
	case []int64:
		return list(number)
	case []string:
		return list(text)
	default:
		return text
	}
}

// parametersOf returns the settings that are a constraint's parameters: the constraint itself says whether and how the
// rule is in force.
func parametersOf(r Rule) Settings {
	parameters := maps.Clone(r.Settings)
	delete(parameters, "enabled")
	delete(parameters, "severity")
	return parameters
}

func constraint(r Rule, exempt []string) map[string]any {
	action := "deny"
	if r.Settings["severity"] == "warning" {
		action = "warn"
	}
	kinds := []string{"Job", "CronJob"}
	if len(r.only) > 0 {
		kinds = r.only
	}
	match := map[string]any{"kinds": []any{map[string]any{"apiGroups": []string{"batch"}, "kinds": kinds}}}
	if len(exempt) > 0 {
		match["excludedNamespaces"] = exempt
	}
	spec := map[string]any{"enforcementAction": action, "match": match}
	if parameters := parametersOf(r); len(parameters) > 0 {
		spec["parameters"] = parameters
	}
	return map[string]any{
		"apiVersion": "constraints.gatekeeper.sh/v1beta1", "kind": gatekeeperKind(r.ID),
		"metadata": map[string]any{"name": strings.ToLower(strings.TrimPrefix(r.ID, "G-")), "labels": partOf()},
		"spec":     spec,
	}
}
