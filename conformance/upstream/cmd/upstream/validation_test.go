package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/conformance/upstream"
	"github.com/podverdict/podverdict/conformance/upstream/release"
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

// Too few submissions do not prove a constraint.
func TestValidationLeast(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := validation(t.Context(), []string{"-n", "100", "-least", "60"}, &stdout, &stderr)
	if code != 1 || !regexp.MustCompile(`(?m)^validation: F1 was broken by \d+ submissions, want 60$`).MatchString(stderr.String()) {
		t.Errorf("exit code %d, stderr:\n%s", code, &stderr)
	}
}

func TestValidationInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	code := validation(ctx, nil, &stdout, &stderr)
	if code != 2 || !strings.Contains(stdout.String(), "0 of 1000000 submissions") || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("exit code %d, stdout:\n%sstderr:\n%s", code, &stdout, &stderr)
	}
}

func TestValidationRefuses(t *testing.T) {
	for _, args := range [][]string{{"-n", "0"}, {"-n", "many"}, {"-workers", "0"}, {"-frob"}, {"jobs"}} {
		var stdout, stderr bytes.Buffer
		if code := validation(t.Context(), args, &stdout, &stderr); code != 2 || stderr.Len() == 0 || stdout.Len() > 0 {
			t.Errorf("%v: exit code %d, stdout %q, stderr %q; want 2 and an error", args, code, &stdout, &stderr)
		}
	}
}

func TestReportDifference(t *testing.T) {
	d := &upstream.DifferenceError{
		Submission: release.Submission{Object: []byte(`{"kind":"Job"}`), Old: []byte(`{"kind":"Job","spec":{}}`)},
		Missing:    []release.Fault{{Type: "FieldValueRequired", Message: "a: Required value"}},
		Excess:     []release.Fault{{Type: "FieldValueInvalid", Message: "b: Invalid value"}},
	}
	var stdout, stderr bytes.Buffer
	if code := report("validation", fmt.Errorf("block 7: %w", d), &stdout, &stderr); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	wantStderr := `validation: block 7: the API server and the bundle differ:
  only the API server: [FieldValueRequired] a: Required value
  only the bundle:     [FieldValueInvalid] b: Invalid value
`
	wantStdout := `
the smallest one found:

# the stored object
kind: Job
spec: {}
---
# its replacement
kind: Job
`
	if diff := cmp.Diff(wantStderr, stderr.String()); diff != "" {
		t.Errorf("stderr (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantStdout, stdout.String()); diff != "" {
		t.Errorf("stdout (-want +got):\n%s", diff)
	}
	if code := report("validation", errors.New("disk on fire"), &stdout, &stderr); code != 2 {
		t.Errorf("exit code %d, want 2", code)
	}
}

func TestSortedConstraints(t *testing.T) {
	f := upstream.Findings{Constraints: map[string]int64{"B10": 0, "CM1": 0, "B2": 0, "S1": 0, "B1": 0}}
	if diff := cmp.Diff([]string{"B1", "B2", "B10", "CM1", "S1"}, sortedConstraints(f)); diff != "" {
		t.Error(diff)
	}
}
