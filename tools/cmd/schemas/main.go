// Schemas writes JSON Schemas for the files that users write for podverdict, so that editors complete and check them.
// It derives them from the Go types that the files are decoded into, including comments, and from the
// CustomResourceDefinitions. The schema of .podverdict.yaml lists the rules of check, and is written by the tests of
// cmd/podverdict/internal/check.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/tools/go/packages"
	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/loader"
	toolsmarkers "sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/yaml"
)

const apiVersion = "podverdict.io/v1alpha1"

// types lists the files that are decoded into a Go type. Decoding rejects unknown fields, and so do the schemas.
var types = []struct{ file, title, folder, name, kind string }{
	{"suite", "a suite of podverdict test", "./cmd/podverdict/internal/suites", "document", "Suite"},
	{"simulation", "a script of podverdict simulate", "./controller/simulation", "Script", "Simulation"},
}

// resources lists the CustomResourceDefinitions.
var resources = []struct{ file, title, definition string }{
	{"podfailurepolicy", "a PodFailurePolicy of podverdict.io", "podverdict.io_podfailurepolicies.yaml"},
	{"podfailurepolicybinding", "a PodFailurePolicyBinding of podverdict.io", "podverdict.io_podfailurepolicybindings.yaml"},
}

func main() {
	root := flag.String("root", "..", "the repository's root")
	out := flag.String("o", "../docs/schemas", "the folder that the schemas are written to")
	flag.Parse()
	if err := run(*root, *out); err != nil {
		fmt.Fprintln(os.Stderr, "schemas:", err)
		os.Exit(1)
	}
}

func run(root, out string) error {
	for _, t := range types {
		schema, err := schemaOfType(root, t.folder, t.name)
		if err != nil {
			return fmt.Errorf("%s: %w", t.file, err)
		}
		identify(&schema, apiVersion, t.kind)
		if err := write(out, t.file, t.title, schema); err != nil {
			return err
		}
	}
	for _, r := range resources {
		schema, err := schemaOfResource(filepath.Join(root, "config", "crd", r.definition))
		if err != nil {
			return fmt.Errorf("%s: %w", r.file, err)
		}
		if err := write(out, r.file, r.title, schema); err != nil {
			return err
		}
	}
	return nil
}

// schemaOfType returns the schema of a Go type. It allows any object for a Pod, a Job or a Node, because suites
// contain parts of them. A Node may be null, which means that it was deleted.
func schemaOfType(root, folder, name string) (apiext.JSONSchemaProps, error) {
	roots, err := loader.LoadRootsWithConfig(&packages.Config{Dir: root}, folder)
	if err != nil {
		return apiext.JSONSchemaProps{}, err
	}
	registry := &toolsmarkers.Registry{}
	if err := markers.Register(registry); err != nil {
		return apiext.JSONSchemaProps{}, err
	}
	parser := &crd.Parser{Collector: &toolsmarkers.Collector{Registry: registry}, Checker: &loader.TypeChecker{}, AllowDangerousTypes: true}
	crd.AddKnownTypes(parser)
	object := apiext.JSONSchemaProps{Type: "object"}
	orNull := apiext.JSONSchemaProps{AnyOf: []apiext.JSONSchemaProps{object, {Type: "null"}}}
	for path, given := range map[string]map[string]apiext.JSONSchemaProps{
		"k8s.io/api/core/v1": {"Pod": object, "Node": orNull}, "k8s.io/api/batch/v1": {"Job": object},
	} {
		parser.PackageOverrides[path] = func(p *crd.Parser, pkg *loader.Package) {
			for name, schema := range given {
				p.Schemata[crd.TypeIdent{Package: pkg, Name: name}] = schema
			}
			p.AddPackage(pkg)
		}
	}
	parser.NeedPackage(roots[0])
	ident := crd.TypeIdent{Package: roots[0], Name: name}
	parser.NeedFlattenedSchemaFor(ident)
	if loader.PrintErrors(roots, packages.TypeError) {
		return apiext.JSONSchemaProps{}, fmt.Errorf("%s has errors", folder)
	}
	schema := parser.FlattenedSchemata[ident]
	closeObjects(&schema)
	return schema, nil
}

// schemaOfResource returns the schema of the only version of a CustomResourceDefinition.
func schemaOfResource(file string) (apiext.JSONSchemaProps, error) {
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return apiext.JSONSchemaProps{}, err
	}
	var definition apiext.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &definition); err != nil {
		return apiext.JSONSchemaProps{}, fmt.Errorf("%s: %w", file, err)
	}
	if n := len(definition.Spec.Versions); n != 1 {
		return apiext.JSONSchemaProps{}, fmt.Errorf("%s has %d versions, want 1", file, n)
	}
	version := definition.Spec.Versions[0]
	schema := *version.Schema.OpenAPIV3Schema
	identify(&schema, definition.Spec.Group+"/"+version.Name, definition.Spec.Names.Kind)
	schema.Required = append(schema.Required, "apiVersion", "kind")
	closeObjects(&schema)
	return schema, nil
}

// identify restricts the schema to one apiVersion and kind.
func identify(s *apiext.JSONSchemaProps, apiVersion, kind string) {
	for field, value := range map[string]string{"apiVersion": apiVersion, "kind": kind} {
		s.Properties[field] = apiext.JSONSchemaProps{Type: "string", Enum: []apiext.JSON{{Raw: []byte(`"` + value + `"`)}}}
	}
}

// closeObjects forbids further properties in objects that declare properties.
func closeObjects(s *apiext.JSONSchemaProps) {
	if len(s.Properties) > 0 && s.AdditionalProperties == nil {
		s.AdditionalProperties = &apiext.JSONSchemaPropsOrBool{}
	}
	for name, p := range s.Properties {
		closeObjects(&p)
		s.Properties[name] = p
	}
	if s.Items != nil && s.Items.Schema != nil {
		closeObjects(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		closeObjects(s.AdditionalProperties.Schema)
	}
}

func write(folder, name, title string, schema apiext.JSONSchemaProps) error {
	schema.Description = "" // the description is the comment of the Go type
	schema.Schema, schema.Title = "http://json-schema.org/draft-07/schema#", title
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(schema); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name+".json"), text.Bytes(), 0o644) //nolint:gosec // the schemas are for everybody to read
}
