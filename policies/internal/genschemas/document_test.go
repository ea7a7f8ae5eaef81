package main

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const openAPI = `{
  "a.Job": {
    "description": "left out",
    "type": "object",
    "required": ["spec"],
    "properties": {
      "spec": {"allOf": [{"$ref": "#/components/schemas/a.Spec"}], "default": {}},
      "limit": {"$ref": "#/components/schemas/a.Quantity"}
    }
  },
  "a.Spec": {
    "type": "object",
    "properties": {
      "jobs": {"type": "array", "items": {"$ref": "#/components/schemas/a.Spec"}},
      "labels": {"type": "object", "additionalProperties": {"type": "string", "default": ""}}
    }
  },
  "a.Quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
  "a.Unused": {"type": "object"}
}`

const jobSchema = `{
  "$schema": "http://json-schema.org/draft-07/schema#",
  "title": "Job of ` + module + `",
  "type": "object",
  "properties": {
    "spec": {"$ref": "#/definitions/a.Spec"},
    "limit": {"$ref": "#/definitions/a.Quantity"}
  },
  "definitions": {
    "a.Spec": {
      "type": "object",
      "properties": {
        "jobs": {"type": "array", "items": {"$ref": "#/definitions/a.Spec"}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}}
      }
    },
    "a.Quantity": {}
  }
}`

func TestSchemaHoldsAllThatItRefersTo(t *testing.T) {
	all := components{}
	if err := all.collect(decode[map[string]any](t, openAPI), "a.Job"); err != nil {
		t.Fatal(err)
	}
	got, err := all.jsonSchema("a.Job")
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(decode[any](t, jobSchema), decode[any](t, string(b))); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}
