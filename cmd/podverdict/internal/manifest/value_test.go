package manifest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadValue(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, test := range []struct{ name, text, want string }{
		{"a.yaml", "# comment\na: {b: 12345678901234567890}\n", ""},
		{"a.json", "\n{\"a\": {\"b\": 12345678901234567890}}\n", ""},
		{"list.yaml", "[a]", "list.yaml:1:1: expected an object"},
		{"null.yaml", "null", "null.yaml:1:1: expected an object"},
		{"empty.yaml", "# nothing\n", "empty.yaml: has 0 documents, and should have one"},
		{"two.yaml", "a: 1\n---\nb: 1\n", "two.yaml: has 2 documents, and should have one"},
		{"twice.yaml", "a: 1\na: 2\n", `twice.yaml:2:1: invalid YAML: key "a" is set twice`},
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
	if _, _, err := ReadValue(Options{}, filepath.Join("no", "such")); err == nil {
		t.Error("no error")
	}
}
