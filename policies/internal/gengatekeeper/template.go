package main

import (
	"encoding/json"
	"maps"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/podverdict/podverdict/compiler/admission"
)

// partOf holds the labels of all objects.
var partOf = map[string]string{admission.LabelPartOf: admission.PartOf}

// gatekeeperKind returns the kind of a rule's constraints: PodverdictBackoffLimit for G-BACKOFF-LIMIT. The name of
// the template is its kind in lower case.
func gatekeeperKind(id string) string {
	name := property(id)
	return "Podverdict" + strings.ToUpper(name[:1]) + name[1:]
}

// property converts the id of a guardrail to a member name: indexLimit for G-INDEX-LIMIT.
func property(id string) string {
	words := strings.Split(strings.ToLower(strings.TrimPrefix(id, "G-")), "-")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

// template returns a ConstraintTemplate (templates.gatekeeper.sh/v1) with a rule in Rego. Each rule has its own
// template, as users of Gatekeeper expect.
func template(r admission.Rule, rego regoSource) map[string]any {
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
		"metadata": map[string]any{"name": strings.ToLower(kind), "labels": partOf, "annotations": annotations},
		"spec": map[string]any{
			"crd": map[string]any{"spec": constraints},
			"targets": []any{map[string]any{
				"target": "admission.k8s.gatekeeper.sh",
				"code":   []any{map[string]any{"engine": "Rego", "source": rego}},
			}},
		},
	}
}

// parametersSchema returns the schema of a constraint's parameters.
func parametersSchema(r admission.Rule, parameters admission.Settings) apiextensionsv1.JSONSchemaProps {
	s := apiextensionsv1.JSONSchemaProps{Type: "object", Description: r.Title + ".", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for name, value := range parameters {
		property := valueSchema(name, value)
		property.Description = r.Parameters[name]
		property.Default = &apiextensionsv1.JSON{Raw: encoded(value)}
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

// Upper bounds of numbers and list lengths, large enough for seconds, percents, Pods and exit codes.
const (
	maxNumber = 999_999_999
	maxItems  = 255
)

// encoded returns a setting as JSON. Settings can always be encoded.
func encoded(value any) []byte {
	text, _ := json.Marshal(value) //nolint:errchkjson // settings are read from JSON
	return text
}

func valueSchema(name string, value any) apiextensionsv1.JSONSchemaProps {
	lowest, highest, fewest, most := 0.0, float64(maxNumber), int64(1), int64(maxItems)
	if name == admission.MaxPercent {
		highest = 100
	}
	number := apiextensionsv1.JSONSchemaProps{Type: "integer", Minimum: &lowest, Maximum: &highest}
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	for _, choice := range admission.Choices[name] {
		text.Enum = append(text.Enum, apiextensionsv1.JSON{Raw: encoded(choice)})
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

// parametersOf returns the settings that become parameters of a constraint. The constraint itself has fields for
// enabled and severity.
func parametersOf(r admission.Rule) admission.Settings {
	parameters := maps.Clone(r.Settings)
	delete(parameters, "enabled")
	delete(parameters, "severity")
	return parameters
}

// constraint returns the Constraint (constraints.gatekeeper.sh/v1beta1) that enables a template with the default
// settings.
func constraint(r admission.Rule) map[string]any {
	action := "deny"
	if r.Settings["severity"] == "warning" {
		action = "warn"
	}
	kinds := []string{"Job", "CronJob"}
	if len(r.Kinds) > 0 {
		kinds = r.Kinds
	}
	match := map[string]any{"kinds": []any{map[string]any{"apiGroups": []string{"batch"}, "kinds": kinds}}}
	spec := map[string]any{"enforcementAction": action, "match": match}
	if parameters := parametersOf(r); len(parameters) > 0 {
		spec["parameters"] = parameters
	}
	return map[string]any{
		"apiVersion": "constraints.gatekeeper.sh/v1beta1", "kind": gatekeeperKind(r.ID),
		"metadata": map[string]any{"name": strings.ToLower(strings.TrimPrefix(r.ID, "G-")), "labels": partOf},
		"spec":     spec,
	}
}
