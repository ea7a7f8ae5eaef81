package kind

import (
	_ "embed" // the schemas
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Kind is a kind of object that admission policies match or use as parameters.
type Kind struct {
	schema.GroupVersionKind
	// Resource is the name in API paths and in the resourceRules of a policy, as in "jobs".
	Resource string
	// Schema is the kind's OpenAPI v3 schema with references resolved, as the API server's type checker sees it. It is shared and
	// must not be changed.
	Schema *spec.Schema
}

// schemasJSON holds the OpenAPI v3 schemas of the built-in kinds without their descriptions. policies/internal/genschemas writes it.
//
//go:embed schemas/openapi.json
var schemasJSON []byte

const reference = "#/components/schemas/"

// builtins returns the schemas of schemasJSON by name.
var builtins = sync.OnceValues(func() (map[string]*spec.Schema, error) {
	var document struct {
		Components struct {
			Schemas map[string]*spec.Schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(schemasJSON, &document); err != nil {
		return nil, err
	}
	for _, s := range document.Components.Schemas {
		requireStructs(s)
	}
	return document.Components.Schemas, nil
})

// requireStructs marks the struct properties of a built-in type as required, because the API server serializes them even if they are
// empty. The schema expresses that with a default next to a reference, which resolving the reference drops.
func requireStructs(s *spec.Schema) {
	for name, property := range s.Properties {
		if len(property.AllOf) == 1 && property.Default != nil && !slices.Contains(s.Required, name) {
			s.Required = append(s.Required, name)
		}
	}
}

var (
	job     = builtin(schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}, "jobs")
	cronJob = builtin(schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "CronJob"}, "cronjobs")
)

// Job returns the kind batch/v1 Job. The schemas are parsed on first use.
func Job() (Kind, error) { return job() }

// CronJob returns the kind batch/v1 CronJob.
func CronJob() (Kind, error) { return cronJob() }

func builtin(gvk schema.GroupVersionKind, resource string) func() (Kind, error) {
	return sync.OnceValues(func() (Kind, error) {
		schemas, err := builtins()
		var resolved *spec.Schema
		if err == nil {
			resolved, err = resolve(schemas, gvk)
		}
		if err != nil {
			return Kind{}, fmt.Errorf("schema of %s: %w", gvk, err)
		}
		return Kind{GroupVersionKind: gvk, Resource: resource, Schema: resolved}, nil
	})
}

// objectMeta returns the schema of object metadata.
var objectMeta = sync.OnceValues(func() (*spec.Schema, error) {
	schemas, err := builtins()
	if err != nil {
		return nil, err
	}
	return populate(schemas, schemas["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"])
})

// resolve finds the schema of a kind.
func resolve(schemas map[string]*spec.Schema, gvk schema.GroupVersionKind) (*spec.Schema, error) {
	for _, s := range schemas {
		var kinds []schema.GroupVersionKind
		if err := s.Extensions.GetObject("x-kubernetes-group-version-kind", &kinds); err != nil {
			return nil, err
		}
		if slices.Contains(kinds, gvk) {
			return populate(schemas, s)
		}
	}
	return nil, errors.New("it is not embedded")
}

// populate returns a schema with its references resolved, like the API server's resolver, which would link the kinds of all groups.
// Schemas must not be recursive.
func populate(schemas map[string]*spec.Schema, s *spec.Schema) (_ *spec.Schema, err error) {
	ref := s.Ref
	if len(s.AllOf) == 1 { // a reference next to a default
		ref = s.AllOf[0].Ref
	}
	if ref.GetURL() != nil {
		if s = schemas[strings.TrimPrefix(ref.String(), reference)]; s == nil {
			return nil, fmt.Errorf("no schema %s", ref.String())
		}
	}
	populated := *s
	populated.Properties = maps.Clone(s.Properties)
	for name, property := range s.Properties {
		p, err := populate(schemas, &property)
		if err != nil {
			return nil, err
		}
		populated.Properties[name] = *p
	}
	if s.Items != nil && s.Items.Schema != nil {
		populated.Items = new(spec.SchemaOrArray)
		if populated.Items.Schema, err = populate(schemas, s.Items.Schema); err != nil {
			return nil, err
		}
	}
	if values := s.AdditionalProperties; values != nil && values.Schema != nil {
		populated.AdditionalProperties = &spec.SchemaOrBool{Allows: values.Allows}
		populated.AdditionalProperties.Schema, err = populate(schemas, values.Schema)
	}
	return &populated, err
}
