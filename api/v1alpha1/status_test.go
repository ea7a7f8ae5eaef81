package v1alpha1_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

const withLastGood = header + `spec: {rules: [{name: a, when: "true", action: Count}]}
status:
  observedGeneration: 3
  lastGood:
    generation: 2
    spec: {rules: [{name: b, when: "false", action: Ignore, retryDelay: 90m, later: 1}]}
`

// Validation accepts a policy whatever its status says, even a status that a later version of the program
// wrote.
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
