package kind

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/json"
)

// maxFaults bounds what ReadCRD reports of one definition.
const maxFaults = 20

// ReadCRD reads the CustomResourceDefinitions (apiextensions.k8s.io/v1) among the YAML or
// JSON documents of data, and returns a Kind for each version that they serve, in the
// order of the text, with the schema that the API server publishes for it. It refuses
// what the API server refuses at creation; the error wraps a *FieldError for each fault.
func ReadCRD(data []byte) ([]Kind, error) {
	documents, err := readDocuments(data)
	if err != nil {
		return nil, err
	}
	var kinds []Kind
	for _, d := range documents {
		if d.kind.GroupKind() != (schema.GroupKind{Group: apiextensions.GroupName, Kind: "CustomResourceDefinition"}) {
			continue
		}
		crd, err := d.definition()
		if err != nil {
			return nil, err
		}
		served, err := servedKinds(crd)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, served...)
	}
	if len(kinds) == 0 {
		return nil, errNoCRD(documents)
	}
	return kinds, nil
}

// definition decodes a CustomResourceDefinition as strictly as kubectl asks the API
// server to, and validates it as at its creation.
func (d document) definition() (*apiextensionsv1.CustomResourceDefinition, error) {
	if d.kind.Version != "v1" {
		return nil, d.fault("apiVersion", fmt.Errorf("version %q of CustomResourceDefinition is not supported, want v1", d.kind.Version))
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	unknown, err := json.UnmarshalStrict(d.json, crd)
	if err != nil {
		return nil, d.decodeFault(err)
	}
	if len(unknown) > 0 {
		var faults []error
		for _, err := range unknown[:min(len(unknown), maxFaults)] {
			faults = append(faults, d.decodeFault(err))
		}
		return nil, errors.Join(faults...)
	}
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(crd)
	return crd, d.validate(crd)
}

func (d document) validate(crd *apiextensionsv1.CustomResourceDefinition) error {
	internal := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd.DeepCopy(), internal, nil); err != nil {
		return d.fault("spec", err)
	}
	invalid := validation.ValidateCustomResourceDefinition(context.Background(), internal)
	var faults []error
	for _, e := range invalid[:min(len(invalid), maxFaults)] {
		faults = append(faults, d.invalidFault(e))
	}
	return errors.Join(faults...)
}

// invalidFault gives an error of the validation its line. The validation looks at one
// schema for all versions when they have the same, at spec.validation.
func (d document) invalidFault(e *field.Error) error {
	path := e.Field
	if rest, ok := strings.CutPrefix(path, "spec.validation."); ok {
		path = "spec.versions[0].schema." + rest
	}
	return d.fault(path, errors.New(e.ErrorBody()))
}

// servedKinds returns a kind for each version that a definition serves.
func servedKinds(crd *apiextensionsv1.CustomResourceDefinition) ([]Kind, error) {
	var kinds []Kind
	for _, v := range crd.Spec.Versions {
		if !v.Served {
			continue
		}
		published, err := publishedSchema(v)
		if err != nil {
			return nil, fmt.Errorf("schema of %s, version %s: %w", crd.Name, v.Name, err)
		}
		kinds = append(kinds, Kind{
			GroupVersionKind: schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind},
			Resource:         crd.Spec.Names.Plural,
			Schema:           published,
		})
	}
	return kinds, nil
}

// publishedSchema returns what the API server publishes for a valid schema: with the kind and the metadata that every
// object has, and those of embedded resources. The server's own builder does the same, but links the server.
func publishedSchema(v apiextensionsv1.CustomResourceDefinitionVersion) (*spec.Schema, error) {
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema.DeepCopy(), internal, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(internal)
	if err != nil {
		return nil, err
	}
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
