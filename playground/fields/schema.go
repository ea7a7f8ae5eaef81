package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// schema is the subset of JSON Schema that the table uses.
type schema struct {
	Type        string            `json:"type"`
	Description string            `json:"description"`
	Required    []string          `json:"required"`
	Properties  map[string]schema `json:"properties"`
	Items       *schema           `json:"items"`
	Enum        []string          `json:"enum"`
}

// addSchema adds the kind described by the JSON Schema in a file.
func (t table) addSchema(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var top schema
	if err := json.Unmarshal(text, &top); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	apiVersion, kind := top.Properties["apiVersion"].Enum, top.Properties["kind"].Enum
	if len(apiVersion) != 1 || len(kind) != 1 {
		return fmt.Errorf("%s is not of one kind", file)
	}
	t.Kinds[kind[0]] = root{apiVersion[0], kind[0]}
	t.addObject(kind[0], top)
	metadata := t.Types[kind[0]]["metadata"]
	metadata.Type = "meta/v1.ObjectMeta"
	t.Types[kind[0]]["metadata"] = metadata
	return nil
}

// addObject adds the type of an object, and the types of its fields under names that start with the
// object's name.
func (t table) addObject(id string, object schema) {
	fields := map[string]field{}
	t.Types[id] = fields
	for name, s := range object.Properties {
		f := field{About: unwrapped(s.Description), Required: slices.Contains(object.Required, name)}
		if s.Type == "array" && s.Items != nil {
			f.List, s = true, *s.Items
		}
		if len(s.Properties) > 0 {
			f.Type = id + "." + name
			t.addObject(f.Type, s)
		}
		for _, value := range s.Enum {
			if f.Values == nil {
				f.Values = map[string]string{}
			}
			f.Values[value] = ""
		}
		if s.Type == "boolean" {
			f.Values = map[string]string{"true": "", "false": ""}
		}
		fields[name] = f
	}
}
