package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

func TestFindingsAreCut(t *testing.T) {
	long := make([]v1alpha1.Finding, v1alpha1.MaxFindings+5)
	for i := range long {
		long[i] = v1alpha1.Finding{Field: "spec.rules[0].when", Message: strings.Repeat("é", v1alpha1.MaxFindingMessage+1)}
	}
	before := long[0]
	got := v1alpha1.NewTypeChecking(long).Findings
	if len(got) != v1alpha1.MaxFindings {
		t.Fatalf("%d findings", len(got))
	}
	last := v1alpha1.Finding{Field: "spec", Message: "6 more findings are left out"}
	if diff := cmp.Diff(last, got[len(got)-1]); diff != "" {
		t.Errorf("the last one (-want +got):\n%s", diff)
	}
	if want := strings.Repeat("é", v1alpha1.MaxFindingMessage-1) + "…"; got[0].Message != want {
		t.Errorf("a message has %d bytes and ends with %q", len(got[0].Message), got[0].Message[len(got[0].Message)-8:])
	}
	if long[0] != before {
		t.Error("the caller's finding has changed")
	}
}

func TestFindingsThatFitStay(t *testing.T) {
	all := make([]v1alpha1.Finding, v1alpha1.MaxFindings)
	for i := range all {
		all[i] = v1alpha1.Finding{Rule: "oom", Field: "spec.rules[0].when", Message: strings.Repeat("é", v1alpha1.MaxFindingMessage)}
	}
	if diff := cmp.Diff(all, v1alpha1.NewTypeChecking(all).Findings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
