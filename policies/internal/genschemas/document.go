package main

import (
	"encoding/json"
	"strings"
)

const reference = "#/components/schemas/"

// node is a schema, reduced to the keywords that type checking needs.
type node struct {
	Ref                  string          `json:"$ref,omitempty"`
	Type                 string          `json:"type,omitempty"`
	AllOf                []node          `json:"allOf,omitempty"`
	Properties           map[string]node `json:"properties,omitempty"`
	AdditionalProperties *node           `json:"additionalProperties,omitempty"`
	Items                *node           `json:"items,omitempty"`
}

// root is a schema with all schemas that it refers to.
type root struct {
	Schema string `json:"$schema"`
	Title  string `json:"title"`
	node
	Definitions map[string]node `json:"definitions"`
}

// jsonSchema returns the named schema with all others as its definitions.
func (o components) jsonSchema(name string) (root, error) {
	text, err := json.Marshal(map[string]any(o))
	if err != nil {
		return root{}, err
	}
	var nodes map[string]node
	if err := json.Unmarshal(text, &nodes); err != nil {
		return root{}, err
	}
	for n := range nodes {
		nodes[n] = nodes[n].trimmed()
	}
	top := nodes[name]
	delete(nodes, name)
	return root{
		Schema:      "http://json-schema.org/draft-07/schema#",
		Title:       name[strings.LastIndex(name, ".")+1:] + " of " + module,
		node:        top,
		Definitions: nodes,
	}, nil
}

// trimmed returns the schema with references into definitions. A value with several possible types, such as a
// quantity, becomes an unrestricted schema, because the type checker does not support alternatives.
func (n node) trimmed() node {
	if len(n.AllOf) == 1 {
		return n.AllOf[0].trimmed()
	}
	if n.Ref != "" {
		return node{Ref: "#/definitions/" + strings.TrimPrefix(n.Ref, reference)}
	}
	n.AllOf = nil
	for name, p := range n.Properties {
		n.Properties[name] = p.trimmed()
	}
	for _, part := range []*node{n.AdditionalProperties, n.Items} {
		if part != nil {
			*part = part.trimmed()
		}
	}
	return n
}
