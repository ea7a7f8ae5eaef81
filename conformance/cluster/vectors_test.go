package cluster

import (
	"slices"
	"strings"
	"testing"

	"github.com/podverdict/podverdict/conformance"
)

// The API server says of every vector of the constraints what it wants.
func TestConstraintVectors(t *testing.T) {
	s := newServer(t)
	vectors, err := conformance.ConstraintVectors()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
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
		if diff := v.Difference(got, lens(v)); diff != "" {
			t.Errorf("%s: %s\n%s", v.Name, v.Sentence, diff)
		}
	}
}

// lens is how the API server sees what a vector wants: without ids, the details in the
// messages, and no warnings where there are errors.
func lens(v conformance.JobVector) conformance.Lens {
	refused := slices.ContainsFunc(v.Want, func(f conformance.Finding) bool { return f.Type != conformance.TypeWarning })
	return func(f *conformance.Finding) bool {
		f.ID, f.Severity, f.Detail = "", "", ""
		return f.Type != conformance.TypeWarning || !refused
	}
}

// What the guardrails judge, the API server accepts: their vectors are Jobs that can
// be.
func TestGuardrailVectorsAreLegal(t *testing.T) {
	s := newServer(t)
	vectors, err := conformance.GuardrailVectors()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		if got, err := s.judge(t.Context(), v.Submission); err != nil || len(got) > 0 {
			t.Errorf("%s: %v, %v", v.Name, got, err)
		}
	}
}
