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

// The bundle says of generated Jobs, updates and CronJobs what the API server says, and
// the generator breaks every constraint.
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

// explain adds the submission to a difference.
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

// The API server finds no fault in what the generator calls well-typed.
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

// A bundle that knows less than the API server is found out, and the submission is
// shrunk to what shows it.
func TestDifference(t *testing.T) {
	bundle := &Bundle{job: &rego.Validator{}} // asks nothing
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
