package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

func TestDefaultsOfAPolicy(t *testing.T) {
	p := &v1alpha1.PodFailurePolicy{Spec: v1alpha1.PodFailurePolicySpec{Rules: []v1alpha1.Rule{
		{}, {Phase: corev1.PodPending, Budget: &v1alpha1.Budget{}}, {Budget: &v1alpha1.Budget{Per: v1alpha1.PerIndex}},
	}}}
	want := []v1alpha1.Rule{
		{Phase: corev1.PodFailed},
		{Phase: corev1.PodPending, Budget: &v1alpha1.Budget{Per: v1alpha1.PerJob}},
		{Phase: corev1.PodFailed, Budget: &v1alpha1.Budget{Per: v1alpha1.PerIndex}},
	}
	for range 2 {
		p.SetDefaults()
		if diff := cmp.Diff(want, p.Spec.Rules); diff != "" || p.Spec.FailurePolicy != v1alpha1.FailurePolicyIgnore {
			t.Errorf("failurePolicy %s, rules (-want +got):\n%s", p.Spec.FailurePolicy, diff)
		}
	}
}

func TestDefaultsOfABinding(t *testing.T) {
	for _, tc := range []struct {
		given, want v1alpha1.PodFailurePolicyBindingSpec
	}{
		{
			want: v1alpha1.PodFailurePolicyBindingSpec{
				Position: v1alpha1.PositionBefore, Mode: v1alpha1.ModeEnforce, PendingPods: v1alpha1.PendingPodsIgnore,
			},
		},
		{
			given: v1alpha1.PodFailurePolicyBindingSpec{
				Position: v1alpha1.PositionAfter, Mode: v1alpha1.ModeAudit, PendingPods: v1alpha1.PendingPodsDelete,
			},
			want: v1alpha1.PodFailurePolicyBindingSpec{
				Position: v1alpha1.PositionAfter, Mode: v1alpha1.ModeAudit, PendingPods: v1alpha1.PendingPodsDelete,
			},
		},
	} {
		b := &v1alpha1.PodFailurePolicyBinding{Spec: tc.given}
		b.SetDefaults()
		if diff := cmp.Diff(tc.want, b.Spec); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
