package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

const reference = "#/components/schemas/"

// document is an OpenAPI document, schemas by name.
type document map[string]node

// node is a schema, as far as type checking needs it.
type node struct {
	Ref                  string          `json:"$ref,omitempty"`
	Type                 string          `json:"type,omitempty"`
	AllOf                []node          `json:"allOf,omitempty"`
	Properties           map[string]node `json:"properties,omitempty"`
	AdditionalProperties *node           `json:"additionalProperties,omitempty"`
	Items                *node           `json:"items,omitempty"`
}

// root is a schema with all that it refers to.
type root struct {
	Schema string `json:"$schema"`
	Title  string `json:"title"`
	node
	Definitions map[string]node `json:"definitions"`
}

func read(path string) (document, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var d struct {
		Components struct {
			Schemas document `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(b, &d); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d.Components.Schemas, nil
}

// schema returns the named schema with everything that it refers to.
func (d document) schema(name string) (root, error) {
	found := map[string]node{}
	if err := d.collect(name, found); err != nil {
		return root{}, err
	}
	top := found[name]
	delete(found, name)
	return root{
		Schema:      "http://json-schema.org/draft-07/schema#",
		Title:       name[strings.LastIndex(name, ".")+1:] + " of " + module,
		node:        top,
		Definitions: found,
	}, nil
}

// collect adds the named schema and everything that it refers to, to found.
func (d document) collect(name string, found map[string]node) error {
	if _, ok := found[name]; ok {
		return nil
	}
	schema, ok := d[name]
	if !ok {
		return fmt.Errorf("no schema %s", name)
	}
	var names []string
	found[name] = schema.trimmed(&names)
	for _, n := range names {
		if err := d.collect(n, found); err != nil {
			return err
		}
	}
	return nil
}

// trimmed returns the schema with references into definitions, and adds their
// names to names. A value that may be of several types, such as a quantity, may be
// anything: the type checker knows no better.
func (n node) trimmed(names *[]string) node {
	if len(n.AllOf) == 1 {
		return n.AllOf[0].trimmed(names)
	}
	if n.Ref != "" {
		name := strings.TrimPrefix(n.Ref, reference)
		*names = append(*names, name)
		return node{Ref: "#/definitions/" + name}
	}
	t := node{Type: n.Type}
	if n.Properties != nil {
		t.Properties = make(map[string]node, len(n.Properties))
	}
	for name, p := range n.Properties {
		t.Properties[name] = p.trimmed(names)
	}
	t.AdditionalProperties = trimmedOrNil(n.AdditionalProperties, names)
	t.Items = trimmedOrNil(n.Items, names)
	return t
}

func trimmedOrNil(n *node, names *[]string) *node {
	if n == nil {
		return nil
	}
	t := n.trimmed(names)
	return &t
}
