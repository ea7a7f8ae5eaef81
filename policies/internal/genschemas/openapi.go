package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// components holds the schemas of OpenAPI documents that some kinds refer to, as the API server publishes them, but
// without descriptions.
type components map[string]any

// add adds the named schema of an OpenAPI document and all schemas that it refers to.
func (o components) add(path, name string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var d struct {
		Components struct {
			Schemas map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(b, &d); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return o.collect(d.Components.Schemas, name)
}

// collect adds the named schema and all schemas that it refers to.
func (o components) collect(schemas map[string]any, name string) error {
	if _, ok := o[name]; ok {
		return nil
	}
	schema, ok := schemas[name].(map[string]any)
	if !ok {
		return fmt.Errorf("no schema %s", name)
	}
	o[name] = schema
	for _, n := range bare(schema, nil) {
		if err := o.collect(schemas, n); err != nil {
			return err
		}
	}
	return nil
}

// bare removes the descriptions from a schema and its subschemas, and appends the names that they refer to.
func bare(schema map[string]any, names []string) []string {
	delete(schema, "description")
	if ref, ok := schema["$ref"].(string); ok {
		names = append(names, strings.TrimPrefix(ref, reference))
	}
	for keyword, value := range schema {
		for _, subschema := range subschemas(keyword, value) {
			names = bare(subschema, names)
		}
	}
	return names
}

// subschemas returns the schemas in the value of a schema's keyword.
func subschemas(keyword string, value any) []map[string]any {
	var values []any
	switch keyword {
	case "properties":
		properties, _ := value.(map[string]any)
		values = slices.Collect(maps.Values(properties))
	case "allOf", "anyOf", "oneOf":
		values, _ = value.([]any)
	case "items", "additionalProperties", "not":
		values = []any{value}
	}
	var found []map[string]any
	for _, v := range values {
		if schema, ok := v.(map[string]any); ok {
			found = append(found, schema)
		}
	}
	return found
}

// MarshalJSON encodes the schemas in the layout of an OpenAPI document.
func (o components) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"components": map[string]any{"schemas": map[string]any(o)}})
}
