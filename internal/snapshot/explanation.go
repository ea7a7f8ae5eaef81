package snapshot

import (
	"context"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Beside returns binding.Beside for the Pod at an index: the results of rules without effect, and of rules on living Pods.
func (s *Snapshot) Beside(ctx context.Context, i int) binding.Beside {
	alone := s.Decisions(ctx)[i].Alone // also sets the earlier attempts that Input returns
	return s.Rules.Effect.Beside(ctx, s.Input(i), alone)
}

// Explain returns what each rule sees of the Pod at an index: the rules on living Pods if it lives, else the rules on failed Pods. It
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

// ExplainWould returns the rule that decides one of Beside's verdicts, as binding.Would.Explain does.
func (s *Snapshot) ExplainWould(ctx context.Context, i int, would binding.Would) (*runtime.RuleExplanation, error) {
	s.Decisions(ctx)
	return would.Explain(ctx, s.Input(i))
}

// Living returns the decision on the living Pod at an index.
func (s *Snapshot) Living(ctx context.Context, i int) binding.LivingDecision {
	s.Decisions(ctx)
	return s.Rules.Selection.DecideLiving(ctx, s.Input(i))
}
