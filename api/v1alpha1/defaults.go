package v1alpha1

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
)

// SetDefaults sets missing fields to the API server's defaults. Calling it twice does no harm.
func (p *PodFailurePolicy) SetDefaults() {
	p.Spec.FailurePolicy = cmp.Or(p.Spec.FailurePolicy, FailurePolicyIgnore)
	for i := range p.Spec.Rules {
		r := &p.Spec.Rules[i]
		r.Phase = cmp.Or(r.Phase, corev1.PodFailed)
		if r.Budget != nil {
			r.Budget.Per = cmp.Or(r.Budget.Per, PerJob)
		}
	}
}

// SetDefaults sets missing fields to the API server's defaults. Calling it twice does no harm.
func (b *PodFailurePolicyBinding) SetDefaults() {
	b.Spec.Position = cmp.Or(b.Spec.Position, PositionBefore)
	b.Spec.Mode = cmp.Or(b.Spec.Mode, ModeEnforce)
}
