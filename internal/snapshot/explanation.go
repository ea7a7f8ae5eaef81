package snapshot

import (
	"context"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Beside returns what the rules say about the Pod at an index besides its verdict: those without effect, and those on Pods that live.
func (s *Snapshot) Beside(ctx context.Context, i int) binding.Beside {
	alone := s.Decisions(ctx)[i].Alone // finds earlier attempts, which Input has
	return s.Rules.Effect.Beside(ctx, s.Input(i), alone)
}

// Explain returns what each rule sees of the Pod at an index: the rules on its phase if it lives, else those on failed Pods. It
// returns an error if the context is done.
func (s *Snapshot) Explain(ctx context.Context, i int) ([]runtime.RuleExplanation, error) {
	s.Decisions(ctx)
	in := s.Input(i)
	if v1alpha1.Lives(v1alpha1.PhaseOf(in.Pod)) {
		return s.Rules.Selection.ExplainLiving(ctx, in)
	}
	explanation, err := s.Rules.Effect.Acting.Explain(ctx, in)
	return explanation.Rules, err
}

// ExplainWould returns the rule that decides a verdict of Beside, as binding.Would.Explain does.
func (s *Snapshot) ExplainWould(ctx context.Context, i int, would binding.Would) (*runtime.RuleExplanation, error) {
	s.Decisions(ctx)
	return would.Explain(ctx, s.Input(i))
}

// Living returns what to do with the Pod at an index, which lives.
func (s *Snapshot) Living(ctx context.Context, i int) binding.LivingDecision {
	s.Decisions(ctx)
	return s.Rules.Selection.DecideLiving(ctx, s.Input(i))
}
