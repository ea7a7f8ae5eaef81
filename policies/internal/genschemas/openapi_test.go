package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const described = `{
  "a.Job": {
    "description": "left out",
    "type": "object",
    "properties": {
      "description": {"type": "string", "description": "left out"},
      "spec": {"allOf": [{"$ref": "#/components/schemas/a.Spec"}], "default": {"description": "kept"}}
    },
    "x-kubernetes-group-version-kind": [{"group": "a", "kind": "Job", "version": "v1"}]
  },
  "a.Spec": {
    "type": "object",
    "properties": {
      "jobs": {"type": "array", "items": {"$ref": "#/components/schemas/a.Spec"}, "x-kubernetes-list-type": "atomic"},
      "limits": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/a.Quantity"}}
    }
  },
  "a.Quantity": {"oneOf": [{"type": "string", "description": "left out"}, {"type": "number"}]},
  "a.Unused": {"type": "object"},
  "a.Dangling": {"$ref": "#/components/schemas/a.Missing"}
}`

func TestComponentsAreWholeButForDescriptions(t *testing.T) {
	got := components{}
	if err := got.collect(decode[map[string]any](t, described), "a.Job"); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"components": {"schemas": {
	  "a.Job": {
	    "type": "object",
	    "properties": {
	      "description": {"type": "string"},
	      "spec": {"allOf": [{"$ref": "#/components/schemas/a.Spec"}], "default": {"description": "kept"}}
	    },
	    "x-kubernetes-group-version-kind": [{"group": "a", "kind": "Job", "version": "v1"}]
	  },
	  "a.Spec": {
	    "type": "object",
	    "properties": {
	      "jobs": {"type": "array", "items": {"$ref": "#/components/schemas/a.Spec"}, "x-kubernetes-list-type": "atomic"},
	      "limits": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/a.Quantity"}}
	    }
	  },
	  "a.Quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]}
	}}}`
	if diff := cmp.Diff(decode[any](t, want), decode[any](t, string(b))); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
}

func TestMissingComponentIsNamed(t *testing.T) {
	err := components{}.collect(decode[map[string]any](t, described), "a.Dangling")
	if err == nil || !strings.Contains(err.Error(), "a.Missing") {
		t.Errorf("got error %v, want one that names a.Missing", err)
	}
}
