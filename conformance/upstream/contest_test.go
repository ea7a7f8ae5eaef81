package upstream

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/conformance/upstream/release"
	"github.com/podverdict/podverdict/internal/testing/oldserver"
)

// TestNamedDifferences tests that a named difference removes only its own faults, and equally many from each side if both
// sides word them differently.
func TestNamedDifferences(t *testing.T) {
	immutable := release.Fault{Field: "spec.template", Detail: "field is immutable"}
	was, is := release.Fault{Field: "status.startTime", Detail: "old words"}, release.Fault{Field: "status.startTime", Detail: "new words"}
	gone := oldserver.Difference{Name: "said before", Field: "spec.template", Said: "field is"}
	came := oldserver.Difference{Name: "said now", Field: "startTime", Says: "new"}
	worded := oldserver.Difference{Name: "worded", Field: "startTime", Said: "old", Says: "new"}
	for name, tt := range map[string]struct {
		difference  oldserver.Difference
		given, want answer
	}{
		"said before":     {gone, answer{missing: []release.Fault{was, immutable}}, answer{missing: []release.Fault{was}, named: []string{"said before"}}},
		"not by the API":  {gone, answer{excess: []release.Fault{immutable}}, answer{excess: []release.Fault{immutable}}},
		"said now":        {came, answer{excess: []release.Fault{is}}, answer{excess: []release.Fault{}, named: []string{"said now"}}},
		"worded":          {worded, answer{missing: []release.Fault{was}, excess: []release.Fault{is}}, answer{missing: []release.Fault{}, excess: []release.Fault{}, named: []string{"worded"}}},
		"only one of two": {worded, answer{missing: []release.Fault{was, was}, excess: []release.Fault{is}}, answer{missing: []release.Fault{was}, excess: []release.Fault{}, named: []string{"worded"}}},
		"old words alone": {worded, answer{missing: []release.Fault{was}}, answer{missing: []release.Fault{was}}},
	} {
		got := tt.given
		got.explain(tt.difference)
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(answer{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
