package upstream

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/podverdict/podverdict/conformance/upstream/release"
	"github.com/podverdict/podverdict/internal/testing/generators"
	"github.com/podverdict/podverdict/runtime/rego"
)

// TestValidation tests that the bundle and the API server report the same for generated Jobs, updates and CronJobs, and
// that the generator violates every constraint.
func TestValidation(t *testing.T) {
	for name, v := range map[string]Validation{
		"jobs":   {Seed: 4, Count: 4000, Workers: 2},
		"status": {Seed: 5, Count: 3000, Workers: 2, Status: true},
	} {
		if testing.Short() {
			v.Count = 100
		}
		t.Run(name, func(t *testing.T) {
			found, err := v.Run(t.Context())
			if err != nil {
				t.Fatal(explain(err))
			}
			if found.Submissions != v.Count || found.Legal < v.Count/5 {
				t.Errorf("%d submissions, %d of them legal", found.Submissions, found.Legal)
			}
			if len(found.Constraints) < 31 {
				t.Errorf("the bundle has %d constraints", len(found.Constraints))
			}
			for id, n := range found.Constraints {
				if n < 5 && !testing.Short() {
					t.Errorf("%s was broken %d times", id, n)
				}
			}
		})
	}
}

// explain returns the text of a difference with its submission.
func explain(err error) string {
	var d *DifferenceError
	if !errors.As(err, &d) {
		return err.Error()
	}
	text, _ := d.YAML()
	return err.Error() + "\n" + text
}

func marshal(t *testing.T, object any) []byte {
	t.Helper()
	document, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// TestWellTypedSubmissionsAreLegal tests that the API server finds no fault in well-typed submissions.
func TestWellTypedSubmissionsAreLegal(t *testing.T) {
	draw := newSubmissions(6, false, false)
	for i := range int64(500) {
		s, err := draw.next(i)
		if err != nil {
			t.Fatal(err)
		}
		faults, _, err := release.APIServer(t.Context(), s)
		if faults = slices.DeleteFunc(faults, func(f release.Fault) bool { return f.Type == "Warning" }); err != nil || len(faults) > 0 {
			t.Fatalf("%v, %v\n%s", err, faults, s.Object)
		}
	}
}

// TestDifference tests that a bundle with fewer rules than the API server is detected, and that the submission is shrunk
// to the relevant part.
func TestDifference(t *testing.T) {
	bundle := &Bundle{job: &rego.Validator{}} // checks nothing
	generator := generators.NewJobs(9, true)
	for range 100 {
		s := release.Submission{Object: marshal(t, generator.Job())}
		_, err := contest{bundle: bundle}.compare(t.Context(), s)
		var d *DifferenceError
		if !errors.As(err, &d) {
			continue
		}
		if len(d.Submission.Object) >= len(s.Object) || len(d.Missing) == 0 || len(d.Excess) > 0 {
			t.Errorf("%v\n%s", d, d.Submission.Object)
		}
		if text := explain(err); !strings.Contains(text, "only the API server: [") || !strings.Contains(text, "kind: Job") {
			t.Error(text)
		}
		return
	}
	t.Error("no differences found")
}
