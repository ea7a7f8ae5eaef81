package check

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

var update = flag.Bool("update", false, "rewrite docs/schemas/settings.json")

// schema is the subset of JSON Schema used for settings.
type schema struct {
	Schema      string            `json:"$schema,omitempty"`
	Title       string            `json:"title,omitempty"`
	Ref         string            `json:"$ref,omitempty"`
	Description string            `json:"description,omitempty"`
	Type        string            `json:"type,omitempty"`
	Default     json.RawMessage   `json:"default,omitempty"`
	Enum        []string          `json:"enum,omitempty"`
	Items       *schema           `json:"items,omitempty"`
	Properties  map[string]schema `json:"properties,omitempty"`
	Closed      *bool             `json:"additionalProperties,omitempty"`
	Definitions map[string]schema `json:"definitions,omitempty"`
}

func schemaOf(description string, properties map[string]schema) schema {
	return schema{Description: description, Type: "object", Properties: properties, Closed: new(false)}
}

// settingsSchema returns the JSON Schema of settings, with the rules of the catalogue.
func settingsSchema() schema {
	rules := map[string]schema{}
	var ids []string
	for _, r := range catalogue.All() {
		rules[r.ID] = ruleSchema(r)
		ids = append(ids, r.ID)
		for _, alias := range r.Aliases {
			rules[alias] = schema{Ref: "#/properties/rules/properties/" + r.ID}
			ids = append(ids, alias)
		}
	}
	for _, g := range catalogue.Groups {
		ids = append(ids, string(g))
	}
	list := func(description string) schema {
		return schema{Description: description, Type: "array", Items: &schema{Ref: "#/definitions/id"}}
	}
	s := schemaOf("", map[string]schema{
		"failOn":     {Description: "The least severity that makes the exit code 1.", Type: "string", Enum: failOn},
		"kubernetes": {Description: "The minor version to decide for, as in \"1.37\".", Type: "string"},
		"only":       list("The rules, or groups of rules, to report."),
		"guardrails": {Description: "Whether the recommended guardrails are on.", Type: "string", Enum: []string{recommended}},
		"skip":       list("Rules, or groups of rules, to leave out."),
		"strict":     {Description: "Whether documents of other kinds are refused, not skipped.", Type: "boolean"},
		"rules":      schemaOf("Settings by the ids of rules.", rules),
	})
	s.Schema, s.Title = "http://json-schema.org/draft-07/schema#", "settings of podverdict check: "+manifest.SettingsFile
	s.Definitions = map[string]schema{
		"id":       {Type: "string", Enum: ids},
		"enabled":  {Description: "Whether the rule is asked.", Type: "boolean"},
		"severity": {Description: "How severe the findings of the rule are.", Type: "string", Enum: []string{"error", "warning"}},
	}
	return s
}

func ruleSchema(r catalogue.Rule) schema {
	properties := map[string]schema{
		"enabled":  {Ref: "#/definitions/enabled"},
		"severity": {Ref: "#/definitions/severity"},
	}
	for _, p := range r.Parameters {
		parameter := schema{Description: p.About, Default: json.RawMessage(p.Default)}
		switch p.Default[0] {
		case '[':
			parameter.Type, parameter.Items = "array", &schema{Type: "string"}
		case 't', 'f':
			parameter.Type = "boolean"
		default:
			parameter.Type = "integer"
		}
		properties[p.Name] = parameter
	}
	return schemaOf(r.Title, properties)
}

func TestSettingsSchemaIsCurrent(t *testing.T) {
	const file = "../../../../docs/schemas/settings.json"
	s := settingsSchema()
	for field := range reflect.TypeFor[settings]().Fields() {
		if _, described := s.Properties[field.Tag.Get("json")]; field.IsExported() && !described {
			t.Errorf("the schema lacks %s", field.Name)
		}
	}
	want, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile(file, want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(have), string(want)); diff != "" {
		t.Errorf("%s is stale, run make generate (-file +want):\n%s", file, diff)
	}
}

// TestSettings reads valid and invalid settings. A test of tools/cmd/schemas validates the same files against the schema.
func TestSettings(t *testing.T) {
	for name, good := range map[string]bool{"good": true, "bad": false} {
		text, err := os.ReadFile(filepath.Join("testdata", "settings", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			file := filepath.Join(t.TempDir(), manifest.SettingsFile)
			if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := readSettings(t.Context(), file); (err == nil) != good {
				t.Errorf("%s: %v:\n%s", name, err, document)
			}
		}
	}
}
