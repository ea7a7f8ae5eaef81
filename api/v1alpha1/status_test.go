package v1alpha1_test

import (
	"encoding/json"
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

const withLastGood = header + `spec: {rules: [{name: a, when: "true", action: Count}]}
status:
  observedGeneration: 3
  lastGood:
    generation: 2
    spec: {rules: [{name: b, when: "false", action: Ignore, retryDelay: 90m, later: 1}]}
`

// What is told of a policy is no reason to refuse it, also when a later version of the program has told it.
func TestDecodeTakesAStatus(t *testing.T) {
	object, err := v1alpha1.Decode([]byte(withLastGood))
	if err != nil {
		t.Fatal(err)
	}
	status := object.(*v1alpha1.PodFailurePolicy).Status
	text, err := json.Marshal(status)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"observedGeneration":3,"lastGood":{"generation":2,"spec":{"rules":[{"name":"b","when":"false","action":"Ignore","retryDelay":"1h30m0s"}]}}}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

// The schema takes any spec for the last good one: what Go cannot hold is left out, and the rest of the list is there.
func TestUnreadableLastGood(t *testing.T) {
	const list = `{"items":[{"metadata":{"name":"a"},"status":{"rules":1,"lastGood":%}},{"metadata":{"name":"b"}}]}`
	for _, text := range []string{
		`{"generation":1,"spec":{"rules":"none"}}`,
		`{"generation":1,"spec":{"rules":[{"name":"r","retryDelay":"soon"}]}}`,
		`{"generation":1,"spec":{"rules":[{"name":"r","budget":{"limit":1e12}}]}}`,
		`{"generation":"1","spec":{}}`,
		`[]`,
	} {
		var read v1alpha1.PodFailurePolicyList
		if err := json.Unmarshal([]byte(strings.Replace(list, "%", text, 1)), &read); err != nil || len(read.Items) != 2 {
			t.Errorf("%s: %v: %d policies", text, err, len(read.Items))
			continue
		}
		want := v1alpha1.PodFailurePolicyStatus{Rules: 1, LastGood: &v1alpha1.LastGood{}}
		if diff := cmp.Diff(want, read.Items[0].Status); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", text, diff)
		}
	}
}
