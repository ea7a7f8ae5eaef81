package admission

import (
	"fmt"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// checkLive refuses settings that a parameter object cannot have. Its bounds, those of valueSchema, do not hold
// for settings written into expressions.
func (s *Selection) checkLive() error {
	var mistakes ConfigurationError
	for _, r := range s.Rules {
		for _, name := range liveSettings(r.Settings) {
			if fault := fault(r.Settings[name]); fault != "" {
				mistakes = append(mistakes, Mistake{r.ID + "." + name, fault})
			}
		}
	}
	if len(mistakes) > 0 {
		return mistakes
	}
	return nil
}

// fault returns what keeps a value out of the object, or an empty string.
func fault(value any) string {
	var numbers []int64
	texts, _ := value.([]string)
	switch v := value.(type) {
	case int64:
		numbers = []int64{v}
	case []int64:
		numbers = v
	}
	switch {
	case slices.ContainsFunc(numbers, func(n int64) bool { return n > maxNumber }):
		return fmt.Sprintf("must be at most %d in a parameter object", maxNumber)
	case max(len(numbers), len(texts)) > maxItems:
		return fmt.Sprintf("must have at most %d items in a parameter object", maxItems)
	default:
		return ""
	}
}

// CustomResource returns a GuardrailParameters object with the selection's settings.
func (s *Selection) CustomResource(p Parameters) map[string]any {
	spec := map[string]any{}
	for _, r := range s.Rules {
		settings := map[string]any{}
		for _, name := range liveSettings(r.Settings) {
			settings[name] = r.Settings[name]
		}
		spec[property(r.ID)] = settings
	}
	return map[string]any{
		"apiVersion": parametersGroup + "/" + parametersVersion, "kind": parametersKind,
		"metadata": map[string]any{"name": p.Name, "labels": partOf()},
		"spec":     spec,
	}
}

// Definition returns the CustomResourceDefinition of GuardrailParameters: spec has a member for each guardrail, whose
// settings have the types and bounds of the rule's own.
func (s *Selection) Definition() *apiextensionsv1.CustomResourceDefinition {
	return s.catalogue.definition()
}

// Configurable reports whether the rules have settings.
func (s *Selection) Configurable() bool { return s.catalogue.Name == "guardrails" }

func (c *Catalogue) definition() *apiextensionsv1.CustomResourceDefinition {
	spec := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for _, r := range c.Rules {
		spec.Properties[property(r.ID)] = settingsSchema(r)
	}
	return &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: parametersPlural + "." + parametersGroup, Labels: partOf()},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: parametersGroup,
			Scope: apiextensionsv1.ClusterScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: parametersPlural, Singular: parametersPlural, Kind: parametersKind, ListKind: parametersKind + "List",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: parametersVersion, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type:        "object",
					Description: "Settings of podverdict's guardrails. What is left out is as the policy was generated.",
					Properties:  map[string]apiextensionsv1.JSONSchemaProps{"spec": spec},
				}},
			}},
		},
	}
}

func settingsSchema(r Rule) apiextensionsv1.JSONSchemaProps {
	s := apiextensionsv1.JSONSchemaProps{Type: "object", Description: r.Title + ".", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for _, name := range liveSettings(r.Settings) {
		property := valueSchema(name, r.Settings[name])
		property.Description = r.Parameters[name]
		s.Properties[name] = property
	}
	_, least := r.Settings["min"]
	_, most := r.Settings["max"]
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

// parameterKind is GuardrailParameters as the API server would serve it.
var parameterKind = sync.OnceValues(func() (kind.Kind, error) {
	c, err := Guardrails()
	if err != nil {
		return kind.Kind{}, err
	}
	kinds, wrong := kind.ServedKinds(c.definition())
	if len(wrong) > 0 {
		return kind.Kind{}, wrong.ToAggregate()
	}
	return kinds[0], nil
})
