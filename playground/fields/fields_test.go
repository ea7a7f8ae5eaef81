package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// definition is a schema of policies/schemas, with the schemas that it refers to.
type definition struct {
	Ref         string                `json:"$ref"`
	Properties  map[string]definition `json:"properties"`
	Items       *definition           `json:"items"`
	Definitions map[string]definition `json:"definitions"`
}

// TestFields compares the fields of Kubernetes' kinds with the API server's own schemas.
func TestFields(t *testing.T) {
	got, err := newTable("../../docs/schemas")
	if err != nil {
		t.Fatal(err)
	}
	for kind, file := range map[string]string{"Job": "job", "CronJob": "cronjob", "Pod": "pod"} {
		t.Run(kind, func(t *testing.T) {
			text, err := os.ReadFile("../../policies/schemas/" + file + ".jsonschema")
			if err != nil {
				t.Fatal(err)
			}
			var schema definition
			if err := json.Unmarshal(text, &schema); err != nil {
				t.Fatal(err)
			}
			compare(t, got, got.Kinds[kind].Type, schema, schema.Definitions, map[string]bool{})
		})
	}
}

// compare compares the fields of a type, and of all types that it consists of, with a schema.
func compare(t *testing.T, got table, id string, want definition, definitions map[string]definition, seen map[string]bool) {
	t.Helper()
	if seen[id] {
		return
	}
	seen[id] = true
	for name := range got.Types[id] {
		if _, ok := want.Properties[name]; !ok {
			t.Errorf("%s has %s, which is not in the schema", id, name)
		}
	}
	for name, property := range want.Properties {
		f, ok := got.Types[id][name]
		if !ok {
			t.Errorf("%s has no %s", id, name)
			continue
		}
		if f.List != (property.Items != nil) {
			t.Errorf("%s.%s is a list: %v", id, name, f.List)
		}
		if property.Items != nil {
			property = *property.Items
		}
		if property.Ref != "" {
			property = definitions[strings.TrimPrefix(property.Ref, "#/definitions/")]
		}
		if len(property.Properties) > 0 && f.Type == "" {
			t.Errorf("%s.%s has no type", id, name)
		} else if len(property.Properties) > 0 {
			compare(t, got, f.Type, property, definitions, seen)
		}
	}
}

// TestSuggested compares suggested values and descriptions with the types and schemas.
func TestSuggested(t *testing.T) {
	got, err := newTable("../../docs/schemas")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ id, name, value, about string }{
		{"batch/v1.PodFailurePolicyRule", "action", "FailIndex", "mark the Job's index as failed"},
		{"batch/v1.JobSpec", "completionMode", "Indexed", "completion index"},
		{"batch/v1.PodFailurePolicyOnPodConditionsPattern", "type", "DisruptionTarget", "about to be terminated"},
		{"core/v1.PodSpec", "restartPolicy", "Never", ""},
		{"PodFailurePolicy.spec", "failurePolicy", "Ignore", ""},
		{"PodFailurePolicy.spec.rules", "action", "Count", ""},
	} {
		about, ok := got.Types[c.id][c.name].Values[c.value]
		if !ok || !strings.Contains(about, c.about) {
			t.Errorf("%s.%s: %q is %q (%v), want %q", c.id, c.name, c.value, about, ok, c.about)
		}
	}
	for id, fields := range got.Types {
		for name, f := range fields {
			if f.Type != "" && got.Types[f.Type] == nil {
				t.Errorf("%s.%s is a %s, which is not in the table", id, name, f.Type)
			}
		}
	}
	if about := got.Types["PodFailurePolicy.spec"]["failurePolicy"].About; strings.Contains(about, "\n") || !strings.Contains(about, "which is the default") {
		t.Errorf("the description of failurePolicy is %q", about)
	}
}
