package upstream

import (
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/conformance/generators"
)

// shrink must reach the pair that one would write by hand, whatever it starts from.
func TestShrink(t *testing.T) {
	has := func(p pair) bool {
		return p.policy != nil &&
			slices.ContainsFunc(p.policy.Rules, func(r batchv1.PodFailurePolicyRule) bool {
				return r.OnExitCodes != nil && slices.Contains(r.OnExitCodes.Values, 137)
			}) &&
			slices.ContainsFunc(p.pod.Status.InitContainerStatuses, func(c corev1.ContainerStatus) bool {
				return c.State.Terminated != nil && c.State.Terminated.ExitCode == 137
			})
	}
	want := pair{
		policy: policyOf(batchv1.PodFailurePolicyRule{
			Action:      batchv1.PodFailurePolicyActionFailJob,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Values: []int32{137}},
		}),
		pod: failedPod("main", 137),
	}
	want.pod.Status.InitContainerStatuses, want.pod.Status.ContainerStatuses = want.pod.Status.ContainerStatuses, baseStatuses()

	g, shrunk := generators.NewPairs(1, true), 0
	for shrunk < 10 {
		p := pair{g.Policy(), g.Pod()}.clone()
		if !has(p) {
			continue
		}
		shrunk++
		got := shrink(p, has)
		got.policy.Rules[0].OnExitCodes.Operator = "" // shrinking leaves the operator as it was
		if diff := cmp.Diff(plain(want), plain(got)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

// plain drops the difference between empty and absent lists.
func plain(p pair) []any {
	s := p.pod.Status
	lists := []any{p.policy, p.pod.Name, p.pod.Namespace, s.Phase}
	for _, list := range statusLists(p.pod) {
		lists = append(lists, append([]corev1.ContainerStatus{}, *list...))
	}
	return append(lists, append([]corev1.PodCondition{}, s.Conditions...))
}
