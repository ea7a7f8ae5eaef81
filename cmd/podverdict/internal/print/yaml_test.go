package print

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/internal/terminal"
)

// TestYAML checks that values survive a round trip through a Writer that lets nothing unsafe through.
func TestYAML(t *testing.T) {
	for _, text := range []string{
		"plain", "", "true", "1", "two\nlines\n", "tab\there", "::error::x", "a\n::error::x\n", "x ##[group]y", "a\u202eb", "\U000e0041", "\x1b\x7f\u0085\r",
		"#", ": ", "\ufeff", "\u00a0", strings.Repeat("long words ::x ##[y] ", 30), "a\\u0041", "'\"\\", "\\##[x",
	} {
		want := map[string]string{"value": text, text: "key"}
		var out bytes.Buffer
		if err := YAML(terminal.NewWriter(&out), want); err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var got map[string]string
		if err := yaml.Unmarshal(out.Bytes(), &got); err != nil {
			t.Errorf("%q: %v in %s", text, err, out.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
		if !terminal.Safe(out.String()) {
			t.Errorf("%q: %q", text, out.String())
		}
	}
}
