package verdicts

import (
	"cmp"
	"fmt"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/runtime/binding"
)

// LivingText describes how a matching rule affects a living Pod. If the Pod is not ended, Would gives the reason.
func (i Item) LivingText() string {
	v := *i.Living
	switch says := cmp.Or(v.Says(), ruleIsTrue); {
	case !v.Matched:
		return "error: " + v.Err.Error()
	case !i.Ended:
		return "WOULD end: " + says + "; left alone"
	case i.afterEnd != "":
		return "WOULD end: " + says + "; " + i.afterEnd
	default:
		return fmt.Sprintf("WOULD end: %s: %s", v.Action, says)
	}
}

// afterEnd describes the effect on the Job when a rule ends a Pod but the rule's action is not carried out.
func (p *Plan) afterEnd(beside binding.Beside) string {
	if !beside.Ended || p.Rules.Effect.Enforced {
		return ""
	}
	switch n := effective.RuleOn(p.Rules.Policy, beside.Condition); {
	case p.Rules.Policy == nil:
		return "then the failure counts"
	case n >= 0:
		return fmt.Sprintf("then %s by rule %d of its own podFailurePolicy", p.Rules.Policy.Rules[n].Action, n)
	default:
		return fmt.Sprintf("its own podFailurePolicy does not name the condition %s", beside.Condition)
	}
}

// PhaseText returns the phase of a living Pod as rules see it.
func (i Item) PhaseText() string { return "phase is " + string(v1alpha1.PhaseOf(i.object)) }
