package kind

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// ServedKinds returns a Kind for each version that a CustomResourceDefinition serves, with the schema that the API server
// publishes for it. It sets the API's defaults in the definition. It rejects missing names and schemas that are not
// structural.
func ServedKinds(crd *apiextensionsv1.CustomResourceDefinition) ([]Kind, field.ErrorList) {
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(crd)
	var kinds []Kind
	wrong := missing(crd)
	versions := field.NewPath("spec", "versions")
	for i, v := range crd.Spec.Versions {
		at := versions.Index(i).Child("schema", "openAPIV3Schema")
		structural, found := structuralOf(at, v.Schema)
		if wrong = append(wrong, found...); len(wrong) > 0 || !v.Served {
			continue
		}
		published, err := publishedSchema(structural)
		if err != nil {
			return nil, field.ErrorList{field.InternalError(at, err)}
		}
		kinds = append(kinds, Kind{
			GroupVersionKind: schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind},
			Resource:         crd.Spec.Names.Plural,
			Schema:           published,
		})
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	if len(kinds) == 0 {
		return nil, field.ErrorList{field.Required(versions, "one must be served")}
	}
	return kinds, nil
}

// missing returns an error for each unset field that a Kind needs.
func missing(crd *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	var all field.ErrorList
	require := func(value string, at *field.Path) {
		if value == "" {
			all = append(all, field.Required(at, ""))
		}
	}
	spec := field.NewPath("spec")
	require(crd.Spec.Group, spec.Child("group"))
	require(crd.Spec.Names.Kind, spec.Child("names", "kind"))
	require(crd.Spec.Names.Plural, spec.Child("names", "plural"))
	for i, v := range crd.Spec.Versions {
		require(v.Name, spec.Child("versions").Index(i).Child("name"))
	}
	return all
}

// structuralOf returns the structural schema of a version, and the errors for which the API server would reject it. The
// server's own validation of whole definitions links its webhook clients.
func structuralOf(at *field.Path, v *apiextensionsv1.CustomResourceValidation) (*structuralschema.Structural, field.ErrorList) {
	if v == nil || v.OpenAPIV3Schema == nil {
		return nil, field.ErrorList{field.Required(at, "schemas are required")}
	}
	internal := &apiextensions.JSONSchemaProps{}
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.OpenAPIV3Schema.DeepCopy(), internal, nil)
	var structural *structuralschema.Structural
	if err == nil {
		structural, err = structuralschema.NewStructural(internal)
	}
	if err != nil {
		return nil, field.ErrorList{field.Invalid(at, field.OmitValueType{}, err.Error())}
	}
	return structural, append(unknownTypes(at, structural), structuralschema.ValidateStructural(at, structural)...)
}

var types = []string{"array", "boolean", "integer", "number", "object", "string"}

// unknownTypes returns an error for each unknown type in a schema.
func unknownTypes(at *field.Path, s *structuralschema.Structural) field.ErrorList {
	if s == nil {
		return nil
	}
	var all field.ErrorList
	if s.Type != "" && !slices.Contains(types, s.Type) {
		all = append(all, field.NotSupported(at.Child("type"), s.Type, types))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		all = append(all, unknownTypes(at.Child("properties").Key(name), &property)...)
	}
	all = append(all, unknownTypes(at.Child("items"), s.Items)...)
	if s.AdditionalProperties != nil {
		all = append(all, unknownTypes(at.Child("additionalProperties"), s.AdditionalProperties.Structural)...)
	}
	return all
}

// publishedSchema returns the schema that the API server publishes, with the kind and metadata of every object and of
// embedded resources. The server's own builder does the same, but links the server.
func publishedSchema(structural *structuralschema.Structural) (*spec.Schema, error) {
	metadata, err := objectMeta()
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	published := structural.Unfold().ToKubeOpenAPI()
	addEmbedded(published, metadata)
	addMetadata(published, metadata)
	return published, nil
}

// addEmbedded adds the metadata of the embedded resources in a schema.
func addEmbedded(s, metadata *spec.Schema) {
	for name, property := range s.Properties {
		addEmbedded(&property, metadata)
		s.Properties[name] = property
	}
	if s.Items != nil {
		addEmbedded(s.Items.Schema, metadata)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		addEmbedded(s.AdditionalProperties.Schema, metadata)
	}
	if embedded, _ := s.Extensions.GetBool("x-kubernetes-embedded-resource"); !embedded {
		return
	}
	addMetadata(s, metadata)
	for _, name := range []string{"kind", "apiVersion"} {
		if !slices.Contains(s.Required, name) {
			s.Required = append(s.Required, name)
		}
	}
}

func addMetadata(s, metadata *spec.Schema) {
	s.SetProperty("apiVersion", *spec.StringProperty())
	s.SetProperty("kind", *spec.StringProperty())
	s.SetProperty("metadata", *metadata)
}
