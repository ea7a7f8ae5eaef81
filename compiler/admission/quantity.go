package admission

import (
	"encoding/json"
	"maps"
	"slices"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// withQuantities returns a kind whose schema adds the types that are missing from
// Kubernetes' schemas: quantities, which expressions see as strings, and int-or-string
// values. The API server's type checker warns that such fields are undefined, but a
// PodFailurePolicy may use them.
func withQuantities(k kind.Kind) (kind.Kind, error) {
	text, err := json.Marshal(k.Schema) // the schema is shared
	if err != nil {
		return kind.Kind{}, err
	}
	k.Schema = new(spec.Schema)
	if err := json.Unmarshal(text, k.Schema); err != nil {
		return kind.Kind{}, err
	}
	giveTypes(k.Schema)
	return k, nil
}

func giveTypes(s *spec.Schema) {
	switch {
	case len(s.Type) > 0 || len(s.OneOf) == 0:
	case s.Format == "int-or-string":
		s.AddExtension("x-kubernetes-int-or-string", true)
	default:
		s.Type = spec.StringOrArray{"string"}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		giveTypes(&property)
		s.Properties[name] = property
	}
	if s.Items != nil && s.Items.Schema != nil {
		giveTypes(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		giveTypes(s.AdditionalProperties.Schema)
	}
}
