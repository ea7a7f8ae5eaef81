package conformance

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/podverdict/podverdict/internal/testing/generators"
)

// Two policies share the key of a program only when they mean the same.
func TestPolicyKeysDiffer(t *testing.T) {
	seen := map[string]string{}
	pairs := generators.NewPairs(1, true)
	for range 5000 {
		drawn := pairs.Policy()
		policy, err := json.Marshal(rules(drawn))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer(`,"onPodConditions":[]`, "", "null", "[]").Replace(string(policy))
		key := string(appendPolicyKey(nil, drawn))
		if other, ok := seen[key]; ok && other != text {
			t.Errorf("one key for\n%s\n%s", other, text)
		}
		seen[key] = text
	}
}
