package repair

import (
	"strings"
	"testing"
)

func TestDiffNamesTheFile(t *testing.T) {
	for file, want := range map[string]string{"jobs/a.yaml": "--- a/jobs/a.yaml\n", "/jobs/a.yaml": "--- a/jobs/a.yaml\n"} {
		if got := Diff(file, "a\n", "b\n"); !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", file, got, want)
		}
	}
	if got := Diff("a.yaml", "a\n", "a\n"); got != "" {
		t.Errorf("nothing changes, and the diff is %q", got)
	}
}
