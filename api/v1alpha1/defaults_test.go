package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

func TestDefaultsOfABinding(t *testing.T) {
	for _, tc := range []struct {
		given, want v1alpha1.PodFailurePolicyBindingSpec
	}{
		{
			want: v1alpha1.PodFailurePolicyBindingSpec{
				Position: v1alpha1.PositionBefore, Mode: v1alpha1.ModeEnforce,
			},
		},
		{
			given: v1alpha1.PodFailurePolicyBindingSpec{
				Position: v1alpha1.PositionAfter, Mode: v1alpha1.ModeAudit, LivingPods: v1alpha1.LivingPhases,
			},
			want: v1alpha1.PodFailurePolicyBindingSpec{
				Position: v1alpha1.PositionAfter, Mode: v1alpha1.ModeAudit, LivingPods: v1alpha1.LivingPhases,
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
