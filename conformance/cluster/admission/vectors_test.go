//go:build cluster

package admission

import (
	"slices"
	"strings"
	"testing"

	"github.com/podverdict/podverdict/conformance/vectors"
)

// TestConstraintVectors tests that the API server reports the wanted findings for every vector of the constraints.
func TestConstraintVectors(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	all, err := vectors.Constraints()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range all {
		if s.lacks(v) {
			continue
		}
		got, err := s.judge(t.Context(), v.Submission)
		switch {
		case v.Panics && (err == nil || !strings.Contains(err.Error(), "INTERNAL_ERROR")):
			t.Errorf("%s: got %v and %v, want a broken stream", v.Name, got, err)
			continue
		case v.Panics:
			continue
		case err != nil:
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		if diff := v.Difference(s.today(v, got), lens(v)); diff != "" {
			t.Errorf("%s: %s\n%s", v.Name, v.Sentence, diff)
		}
	}
}

// lens returns the lens through which the API server sees a vector's wanted findings: without ids, with the details in
// the messages, and without warnings if there are errors.
func lens(v vectors.JobVector) vectors.Lens {
	refused := slices.ContainsFunc(v.Want, func(f vectors.Finding) bool { return f.Type != vectors.TypeWarning })
	return func(f *vectors.Finding) bool {
		f.ID, f.Severity, f.Detail = "", "", ""
		return f.Type != vectors.TypeWarning || !refused
	}
}
