package generators

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/protocol"
)

func TestSizes(t *testing.T) {
	engines := map[string]conformance.Engine{"go": conformance.Go, "cel": conformance.CEL()}
	for _, size := range Sizes() {
		if _, err := compiler.NewPolicy(size.Policy); err != nil {
			t.Errorf("%s: %v", size.Name, err)
		}
		for _, containers := range []int{1, 3, 10} {
			pod := SizedPod(containers)
			if n := len(pod.Status.ContainerStatuses) + len(pod.Status.InitContainerStatuses); n != containers {
				t.Errorf("%d containers, want %d", n, containers)
			}
			for name, engine := range engines {
				v, err := engine(t.Context(), conformance.Request{Policy: size.Policy, Pod: pod})
				if err != nil || v.Rule != size.Rule || !v.Terminal {
					t.Errorf("%s, %s, %d containers: %+v, %v; want rule %d", size.Name, name, containers, v, err, size.Rule)
				}
			}
		}
	}
}

// candidates returns the longest valid rule of each kind. A policy of the longest rules is the longest policy, because
// every rule is a separate expression.
func candidates() map[string]batchv1.PodFailurePolicyRule {
	codes := slices.Clone(longest().Rules[0].OnExitCodes.Values)
	label := strings.Repeat("a", 63)
	host := strings.Join([]string{label, label, label, label[:61]}, ".")
	all := map[string]batchv1.PodFailurePolicyRule{
		"In": exitCodeRule(strings.Repeat("c", maxName), codes...), "no container": exitCodeRule("", codes...), "longest": longest().Rules[0],
	}
	for _, statuses := range [][]corev1.ConditionStatus{{"True"}, {"Unknown"}, {"True", "Unknown", "False"}} {
		r := batchv1.PodFailurePolicyRule{Action: batchv1.PodFailurePolicyActionIgnore}
		for i := range compiler.MaxPatterns {
			r.OnPodConditions = append(r.OnPodConditions, batchv1.PodFailurePolicyOnPodConditionsPattern{
				Type: corev1.PodConditionType(fmt.Sprintf("%s/%063d", host, i)), Status: statuses[i%len(statuses)],
			})
		}
		all[fmt.Sprint("conditions ", statuses)] = r
	}
	return all
}

// TestLegalPoliciesAreRead tests that all valid policies are read: the longest in JSON is a policy of conditions.
func TestLegalPoliciesAreRead(t *testing.T) {
	for name, rule := range candidates() {
		policy, err := json.Marshal(&batchv1.PodFailurePolicy{Rules: slices.Repeat([]batchv1.PodFailurePolicyRule{rule}, compiler.MaxRules)})
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf(`{"op":"verdict","policy":%s,"pod":{"status":{"phase":"Running"}}}`, policy)
		want := `{"verdict":{"terminal":false,"matched":false,"counted":false}}`
		var got strings.Builder
		if err := protocol.Serve(t.Context(), strings.NewReader(line), &got, conformance.Go); err != nil || got.String() != want+"\n" {
			t.Errorf("%s, %d bytes: %v, %s", name, len(policy), err, &got)
		}
	}
}
