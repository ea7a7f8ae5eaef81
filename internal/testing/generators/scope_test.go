package generators

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestSmallScopeSizes derives the sizes from the domains in the comment of SmallScope.
func TestSmallScopeSizes(t *testing.T) {
	const (
		exitSelectors = 2 * (1<<3 - 1) * 3 // operators, non-empty sets of 3 codes, 2 names and none
		condSelectors = 6 + 6*5/2          // one or two of 2 types x 3 statuses
		rules         = 4 * (exitSelectors + condSelectors)
		policies      = 1 + rules + rules*rules
		container     = 2 * (3 + 1)                             // names, codes and running
		containers    = 1 + 2*container + 3*container*container // each split of the list into app and init
		conditions    = 1 + 6 + 6*6
	)
	s := NewSmallScope()
	if s.SingleRulePolicies() != 1+rules || s.Policies() != policies || s.Pods() != containers*conditions {
		t.Errorf("got %d rules and none, %d policies, %d pods; want %d, %d, %d",
			s.SingleRulePolicies(), s.Policies(), s.Pods(), 1+rules, policies, containers*conditions)
	}
}

func TestSmallScopeHasNoDuplicates(t *testing.T) {
	s := NewSmallScope()
	seen := map[string]bool{}
	for i := range s.Policies() {
		p := s.Policy(i)
		wantRules := 2
		if i < s.SingleRulePolicies() {
			wantRules = min(i, 1)
		}
		if len(p.Rules) != wantRules {
			t.Fatalf("policy %d has %d rules, want %d", i, len(p.Rules), wantRules)
		}
		mark(t, seen, p)
	}
	var pod corev1.Pod
	for i := range s.Pods() {
		s.Pod(i, &pod)
		mark(t, seen, pod.Status)
	}
}

func mark(t *testing.T, seen map[string]bool, v any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if seen[string(text)] {
		t.Fatalf("occurs twice: %s", text)
	}
	seen[string(text)] = true
}
