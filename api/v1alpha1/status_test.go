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

// Validation accepts a policy regardless of its status, even a status written by a later version of the program.
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

// The schema accepts any spec in lastGood: decoding drops one that does not fit the Go types, and keeps the rest of the list.
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
