package manifest

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"sigs.k8s.io/yaml"
)

// marker marks the expected position in a text.
const marker = "HERE"

// TestPositionIn finds the marker in a text of each YAML style.
func TestPositionIn(t *testing.T) {
	for name, text := range map[string]string{
		"plain":                 "spec:\n  when: a == HERE\n  action: x\n",
		"plain, at its start":   "when: HERE\n",
		"plain, over lines":     "when: a &&\n  b &&\n\n    HERE\naction: x\n",
		"single":                "when: 'a == ''b'' && HERE'\n",
		"double":                `when: "a\t== \"b\\\" && \x41 \u0042 \U00000043 HERE"` + "\n",
		"double, over lines":    "when: \"a &&\n  b && \\\n   HERE\"\n",
		"literal":               "when: |\n  a &&\n    HERE\naction: x\n",
		"literal, with comment": "when: |- # HERE is one\n  a && # and\n\n  HERE\n",
		"literal, indented":     "when: |2\n    a &&\n   HERE\n",
		"folded":                "when: >-\n  a &&\n  b &&\n\n    c && HERE\naction: x\n",
		"flow":                  "{action: x, when: a.b == HERE}\n",
		"json":                  `{"action": "x", "when": "a \u003e b \u0026\u0026\n  HERE"}`,
		"wide characters":       "when: \"'äöü' == HERE\"\n",
		"alias":                 "other: &x a == HERE\nwhen: *x\n",
		"carriage returns":      "when: |\r\n  a &&\r\n  HERE\r\n",
	} {
		documents := documentsOf(t, "---\n"+text)
		if strings.HasPrefix(text, "{\"") {
			documents = documentsOf(t, "\n"+text)
		}
		field := "when"
		if strings.HasPrefix(text, "spec:") {
			field = "spec.when"
		}
		if got := found(t, documents[0], field); !strings.HasPrefix(got, marker) {
			t.Errorf("%s: found %q", name, got)
		}
	}
}

// found returns the text of the file at the position reported for the marker in a field.
func found(t *testing.T, d *Document, field string) string {
	t.Helper()
	_, node := d.find(steps(field))
	for node != nil && node.Alias != nil {
		node = node.Alias
	}
	if node == nil {
		t.Fatalf("no %s in %q", field, d.Text)
	}
	before, _, ok := strings.Cut(node.Value, marker)
	if !ok {
		t.Fatalf("no marker in %q", node.Value)
	}
	lines := strings.Split(before, "\n")
	at := Origin{Document: d}.PositionIn(field, len(lines), len([]rune(lines[len(lines)-1]))+1)
	line, _ := lineOf(d, at.Line)
	column := at.Column - 1
	if at.Line == d.Line {
		column -= d.Column
	}
	_, rest := cutAt(line, column)
	return rest
}

// TestPositionBehind covers expressions that end too early, and fields that are absent or not text.
func TestPositionBehind(t *testing.T) {
	for _, c := range []struct {
		text, field  string
		line, column int
		want         string
	}{
		{"when: a &&  \naction: x\n", "when", 1, 6, "f:1:11"},
		{"when: 'a &&'\naction: x\n", "when", 1, 5, "f:1:12"},
		{"when: |\n  a &&\n\naction: x\n", "when", 2, 1, "f:2:7"},
		{"when: ''\n", "when", 1, 1, "f:1:8"},
		{"when: a\n", "when", 7, 9, "f:1:8"},
		{"rules:\n- action: x\n", "rules[0].when", 1, 3, "f:2:3"},
		{"when: [a, b]\n", "when", 1, 2, "f:1:7"},
		{"when: \"a\\\n  HERE\"\n", "when", 1, 2, "f:2:3"},
		{"when: !!str a == b\n", "when", 1, 6, "f:1:18"},
	} {
		documents := documentsOf(t, c.text)
		d := documents[0]
		if got := (Origin{Document: d}).PositionIn(c.field, c.line, c.column).String(); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

// FuzzPositionIn checks that the reported position is that of the marker or of the field, whatever the surrounding text.
func FuzzPositionIn(f *testing.F) {
	for _, seed := range []string{"a == ", "a &&\n  ", "'b' == \"c\" && \\", "\t\u2028ä\x00#: ", "- "} {
		f.Add(seed, "\n&& d")
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		if strings.Contains(before+after, marker) || strings.HasSuffix(before, "HER") {
			return
		}
		object := map[string]string{"when": before + marker + after}
		asYAML, err := yaml.Marshal(object)
		if err != nil {
			t.Skip(err)
		}
		asJSON, err := json.Marshal(object)
		if err != nil {
			t.Skip(err)
		}
		for _, text := range [][]byte{asYAML, asJSON} {
			documents := documentsOf(t, string(text))
			if len(documents) != 1 || documents[0].oddBreaks {
				return
			}
			if _, node := documents[0].find([]string{"when"}); node == nil || !strings.Contains(node.Value, marker) {
				return
			}
			whole := Origin{Document: documents[0]}.Position("when")
			line, _ := lineOf(documents[0], whole.Line)
			_, field := cutAt(line, whole.Column-1)
			if got := found(t, documents[0], "when"); !strings.HasPrefix(got, marker) && got != field && strings.IndexFunc(before, unicode.IsControl) < 0 {
				t.Errorf("%q: found %q", text, got)
			}
		}
	})
}
