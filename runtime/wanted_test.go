package runtime_test

import (
	"context"
	"os"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/runtime"
)

// wanted is a rule that platform teams request, and the Pods on which it is tested.
type wanted struct {
	Asks    string          `json:"asks"`
	Phase   corev1.PodPhase `json:"phase"`
	When    string          `json:"when"`
	Job     batchv1.Job     `json:"job"`
	Attempt int64           `json:"attempt"`
	Matches corev1.Pod      `json:"matches"`
	Node    *corev1.Node    `json:"node"`
	// Attempts are the earlier attempts.
	Attempts []cel.Attempt `json:"attempts"`
	// Misses is a Pod that does not match. If it is nil, the first Pod must not match as the first attempt of an empty Job
	// without a Node.
	Misses *corev1.Pod `json:"misses"`
}

// TestWantedRules checks that each requested rule can be expressed in one expression without findings.
func TestWantedRules(t *testing.T) {
	text, err := os.ReadFile("testdata/wanted.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []wanted
	if err := yaml.UnmarshalStrict(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != 26 {
		t.Errorf("%d rules", len(all))
	}
	for _, w := range all {
		t.Run(w.Asks, func(t *testing.T) {
			policy := customPolicy(t, "p", v1alpha1.Rule{Name: "r", Phase: w.Phase, When: w.When, Action: ignore, Reason: "Wanted"})
			for _, f := range policy.Compiled.Warnings {
				t.Error(f)
			}
			in := runtime.Input{Pod: &w.Matches, Job: &w.Job, Attempt: max(w.Attempt, 1), Now: time.Date(2026, 6, 15, 10, 0, 0, 0, time.UTC)}
			in.Node, in.Attempts = w.Node, w.Attempts
			if !w.matches(t, policy, in) {
				t.Error("the rule does not match")
			}
			if w.Misses == nil {
				in.Attempt, in.Job, in.Node, in.Attempts = 1, &batchv1.Job{}, nil, nil
			} else {
				in.Pod = w.Misses
			}
			if w.matches(t, policy, in) {
				t.Error("the rule matches what it should not")
			}
		})
	}
}

func (w *wanted) matches(t *testing.T, policy *runtime.Policy, in runtime.Input) bool {
	t.Helper()
	var v runtime.Verdict
	switch w.Phase {
	case "", corev1.PodFailed:
		in.Pod.Status.Phase = corev1.PodFailed
		v = runtime.Join([]*runtime.Policy{policy}, nil, nil).Judge(context.Background(), in)
	default:
		if w.Phase != v1alpha1.PhaseTerminating {
			in.Pod.Status.Phase = w.Phase
		}
		v, _ = policy.Living(context.Background(), in)
	}
	if v.Err != nil {
		t.Error(v.Err)
	}
	return v.Matched
}
