package runtime_test

import (
	"encoding/json"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/internal/testing/generators"
	"github.com/podverdict/podverdict/runtime"
)

// policyText returns a text that is equal for two policies if and only if they have the same meaning.
func policyText(policy *batchv1.PodFailurePolicy) (string, error) {
	text, err := json.Marshal(policy)
	return strings.ReplaceAll(string(text), `,"onPodConditions":[]`, ""), err
}

// TestPolicyCacheTellsPoliciesApart checks that two policies share a value only if they have the same meaning, and that a policy
// that is changed in place is a different one.
func TestPolicyCacheTellsPoliciesApart(t *testing.T) {
	var cache runtime.PolicyCache[string]
	pairs := generators.NewPairs(1, true)
	for range 5000 {
		policy := pairs.Policy()
		for range 2 {
			want, err := policyText(policy)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := cache.Get(policy, policyText); got != want || err != nil {
				t.Fatalf("got the value of %s, error %v, want that of %s", got, err, want)
			}
			if policy != nil && len(policy.Rules) > 0 {
				policy.Rules[0].Action += "x"
			}
		}
	}
}
