package manifest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
)

func TestReadPart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, err string }{
		"part":          {text: "kind: Job\nspec: {backoffLimit: 3}\n"},
		"json":          {text: `{"kind":"Job","spec":{"backoffLimit":3}}`},
		"misspelt":      {text: "spec:\n  backofLimit: 3\n", err: ":2:3: spec.backofLimit: unknown field, did you mean backoffLimit?"},
		"wrong type":    {text: "spec:\n  backoffLimit: many\n", err: ":2:17: spec.backoffLimit: expected an integer (int32), found a string"},
		"twice":         {text: "spec: {backoffLimit: 3}\nspec: {backoffLimit: 3}\n", err: `:2:1: invalid YAML: key "spec" is set twice`},
		"no object":     {text: "- 1\n", err: ":1:1: expected an object, found a list"},
		"null":          {text: "null\n", err: ":1:1: expected an object"},
		"empty":         {text: "# nothing\n", err: ": has 0 documents, and should have one"},
		"two documents": {text: "kind: Job\n---\nkind: Job\n", err: ": has 2 documents, and should have one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "part.yaml")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var job batchv1.Job
			fields, origin, err := ReadPart(t.Context(), Options{}, file, &job)
			if c.err != "" {
				if err == nil || strings.TrimPrefix(err.Error(), file) != c.err {
					t.Fatalf("got %v, want %s", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if spec, ok := fields["spec"].(map[string]any); !ok || len(spec) != 1 || *job.Spec.BackoffLimit != 3 {
				t.Errorf("got %v and %v", fields, job.Spec.BackoffLimit)
			}
			if at := origin.Position("spec.backoffLimit"); at.Line < 1 {
				t.Errorf("at %v", at)
			}
		})
	}
}

func TestReadValue(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, test := range []struct{ name, text, want string }{
		{"a.yaml", "# comment\na: {b: 12345678901234567890}\n", ""},
		{"a.json", "\n{\"a\": {\"b\": 12345678901234567890}}\n", ""},
		{"list.yaml", "[a]", "list.yaml:1:1: expected an object"},
		{"bytes.yaml", "a: \xff\n", "bytes.yaml:1:4: invalid UTF-8: byte 0xff"},
	} {
		if err := os.WriteFile(test.name, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, origin, err := ReadValue(Options{}, test.name)
		if test.want != "" {
			if err == nil || err.Error() != test.want {
				t.Errorf("%s: got  %v\nwant %s", test.name, err, test.want)
			}
			continue
		}
		want := map[string]any{"a": map[string]any{"b": json.Number("12345678901234567890")}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", test.name, err, diff)
		}
		if at := origin.Position("a.b"); at.Line != 2 || at.File != test.name {
			t.Errorf("%s: a.b is at %s", test.name, at)
		}
	}
}
