package check

import (
	"strings"
	"testing"
)

func TestDiffNamesTheFile(t *testing.T) {
	for file, want := range map[string]string{"jobs/a.yaml": "--- a/jobs/a.yaml\n", "/jobs/a.yaml": "--- a/jobs/a.yaml\n"} {
		if got := (repaired{file: file, before: "a\n", text: "b\n"}).diff(); !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", file, got, want)
		}
	}
	if got := (repaired{file: "a.yaml", before: "a\n", text: "a\n"}).diff(); got != "" {
		t.Errorf("nothing changes, and the diff is %q", got)
	}
}
