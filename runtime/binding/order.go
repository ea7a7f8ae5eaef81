package binding

import (
	"iter"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
)

// All returns the policies in effect with their bindings, in rule order: first the policies Before the Job's own rules, then
// the policies After.
func (s Selection) All() iter.Seq2[*runtime.Policy, *v1alpha1.PodFailurePolicyBinding] {
	return func(yield func(*runtime.Policy, *v1alpha1.PodFailurePolicyBinding) bool) {
		for _, position := range []v1alpha1.Position{v1alpha1.PositionBefore, v1alpha1.PositionAfter} {
			for _, e := range s.entries {
				if e.binding.Spec.Position == position && !yield(e.policy, e.binding) {
					return
				}
			}
		}
	}
}
