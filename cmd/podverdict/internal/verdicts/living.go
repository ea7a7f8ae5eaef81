package verdicts

import (
	"cmp"
	"fmt"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/runtime/binding"
)

// LivingText says what becomes of a Pod that lives and that a rule matches. If it is left alone, Would says why.
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

// afterEnd says what the failure of a Pod means that a rule ends, where nobody carries out the rule's action.
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

// PhaseText says which phase a Pod that lives is in, for rules.
func (i Item) PhaseText() string { return "phase is " + string(v1alpha1.PhaseOf(i.object)) }
