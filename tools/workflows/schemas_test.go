package workflows

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

const root = "../.."

func compiled(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(root, "docs", "schemas", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validate(t *testing.T, schema *jsonschema.Schema, document string) error {
	t.Helper()
	text, err := yaml.YAMLToJSON([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(value)
}

// TestSchemasOfExamples checks that the schemas accept every example of their kind.
func TestSchemasOfExamples(t *testing.T) {
	schemas := map[string]string{
		"Suite": "suite", "Simulation": "simulation", "PodFailurePolicy": "podfailurepolicy", "PodFailurePolicyBinding": "podfailurepolicybinding",
	}
	seen := map[string]int{}
	err := filepath.WalkDir(filepath.Join(root, "examples"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			var object struct {
				Kind string `json:"kind"`
			}
			if err := yaml.Unmarshal([]byte(document), &object); err != nil {
				return err
			}
			if name := schemas[object.Kind]; name != "" {
				seen[object.Kind]++
				if err := validate(t, compiled(t, name), document); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for kind := range schemas {
		if seen[kind] == 0 {
			t.Errorf("no example is a %s", kind)
		}
	}
}

// TestMistakes checks that the schemas reject files that podverdict rejects, so that editors mark the mistakes.
func TestMistakes(t *testing.T) {
	const policy = "apiVersion: podverdict.io/v1alpha1\nkind: PodFailurePolicy\nmetadata: {name: a}\n"
	for document, schema := range map[string]string{
		"apiVersion: podverdict.io/v1alpha1\nkind: Suite\ncases: [{name: a, form: failed, expect: {}}]": "suite",
		"apiVersion: podverdict.io/v1alpha1\nkind: Suite\ncases: [{name: a, expect: {matched: 1}}]":     "suite",
		"apiVersion: podverdict.io/v1alpha1\nkind: Suits\ncases: []":                                    "suite",
		"apiVersion: podverdict.io/v1alpha1\nkind: Suite":                                               "suite",
		"pods: [{exitcode: 1}]":   "simulation",
		"events: [{drain: node}]": "simulation",
		policy + "spec: {rules: [{name: a, action: FailJobs, expression: 'true'}]}": "podfailurepolicy",
		policy + "spec: {rule: []}": "podfailurepolicy",
		"apiVersion: podverdict.io/v1alpha1\nkind: PodFailurePolicyBinding\nmetadata: {name: a}\nspec: {policy: a}": "podfailurepolicybinding",
	} {
		if validate(t, compiled(t, schema), document) == nil {
			t.Errorf("the schema %s takes this:\n%s", schema, document)
		}
	}
}

// TestSettings checks that the schema of .podverdict.yaml accepts the same files as podverdict check, using its test
// data.
func TestSettings(t *testing.T) {
	schema := compiled(t, "settings")
	for name, good := range map[string]bool{"good": true, "bad": false} {
		text, err := os.ReadFile(filepath.Join(root, "cmd", "podverdict", "internal", "check", "testdata", "settings", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			if err := validate(t, schema, document); (err == nil) != good {
				t.Errorf("%s: %v:\n%s", name, err, document)
			}
		}
	}
}

// TestHistory checks that the schema accepts existing lines of history, and rejects a field that may contain secrets.
func TestHistory(t *testing.T) {
	schema := compiled(t, "history")
	text, err := os.ReadFile(filepath.Join(root, "internal", "history", "testdata", "lines.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i, line := range lines {
		if err := validate(t, schema, line); err != nil {
			t.Errorf("line %d: %v", i+1, err)
		}
		if err := validate(t, schema, strings.Replace(line, `"image":`, `"env":[],"image":`, 1)); err == nil {
			t.Errorf("line %d may have an environment", i+1)
		}
	}
	if len(lines) != 4 {
		t.Errorf("there are %d lines", len(lines))
	}
}
