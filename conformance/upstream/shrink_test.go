package upstream

import (
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/internal/testing/generators"
)

// TestSmallest tests that all parts of a request are removed that do not cause the disagreement.
func TestSmallest(t *testing.T) {
	has := func(r conformance.Request) bool {
		return r.Policy != nil &&
			slices.ContainsFunc(r.Policy.Rules, func(rule batchv1.PodFailurePolicyRule) bool {
				return rule.OnExitCodes != nil && slices.Contains(rule.OnExitCodes.Values, 137)
			}) &&
			slices.ContainsFunc(r.Pod.Status.InitContainerStatuses, func(c corev1.ContainerStatus) bool {
				return c.State.Terminated != nil && c.State.Terminated.ExitCode == 137
			})
	}
	want := conformance.Request{
		Policy: policyOf(batchv1.PodFailurePolicyRule{OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Values: []int32{137}}}),
		Pod: &corev1.Pod{Status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{
			{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137}}},
		}}},
	}
	g, shrunk := generators.NewPairs(1, true), 0
	for shrunk < 10 {
		r := conformance.Request{Policy: g.Policy(), Pod: g.Pod().DeepCopy()}
		if !has(r) {
			continue
		}
		shrunk++
		if diff := cmp.Diff(want, smallest(r, has)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}
