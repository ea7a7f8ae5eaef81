package main

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/conformance/upstream"
)

func TestValidation(t *testing.T) {
	for _, args := range [][]string{{"-n", "600"}, {"-n", "600", "-status"}} {
		var stdout, stderr bytes.Buffer
		if code := validation(t.Context(), args, &stdout, &stderr); code != 0 {
			t.Fatalf("%v: exit code %d, stderr:\n%s", args, code, &stderr)
		}
		want := regexp.MustCompile(`^seed 1, Kubernetes 1\.37: 600 submissions \(\d+ updates, \d+ CronJobs\) in .* a second
\d+ without findings; upstream panics on \d+
constraints, and how many submissions break them:
(  [A-Z]+\d+ +\d+
){30,}0 disagreements
$`)
		if !want.MatchString(stdout.String()) {
			t.Errorf("got\n%swant a match of\n%s", &stdout, want)
		}
	}
}

// TestValidationLeast tests that too few submissions do not prove a constraint.
func TestValidationLeast(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := validation(t.Context(), []string{"-n", "100", "-least", "60"}, &stdout, &stderr)
	if code != 1 || !regexp.MustCompile(`(?m)^validation: F1 was broken by \d+ submissions, want 60$`).MatchString(stderr.String()) {
		t.Errorf("exit code %d, stderr:\n%s", code, &stderr)
	}
}

func TestSortedConstraints(t *testing.T) {
	f := upstream.Findings{Constraints: map[string]int64{"B10": 0, "CM1": 0, "B2": 0, "S1": 0, "B1": 0}}
	if diff := cmp.Diff([]string{"B1", "B2", "B10", "CM1", "S1"}, sortedConstraints(f)); diff != "" {
		t.Error(diff)
	}
}
