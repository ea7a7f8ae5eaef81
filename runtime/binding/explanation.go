package binding

import (
	"context"

	"github.com/podverdict/podverdict/runtime"
)

// ExplainLiving explains each rule on the phase of a living pod, in evaluation order. It returns an error if the context is
// done.
func (s Selection) ExplainLiving(ctx context.Context, in runtime.Input) ([]runtime.RuleExplanation, error) {
	var all []runtime.RuleExplanation
	for policy := range s.All() {
		rules, err := policy.Explain(ctx, in)
		if err != nil {
			return nil, err
		}
		all = append(all, rules...)
	}
	decided := false
	for i := range all {
		all[i].Outcome = livingOutcome(&all[i], decided)
		decided = decided || all[i].Decides()
	}
	return all, nil
}

func livingOutcome(r *runtime.RuleExplanation, decided bool) runtime.Outcome {
	switch {
	case decided:
		return runtime.OutcomeNotReached
	case r.Error != "":
		return runtime.OutcomeError
	case r.Holds:
		return runtime.OutcomeMatched
	default:
		return runtime.OutcomeNotMatched
	}
}
