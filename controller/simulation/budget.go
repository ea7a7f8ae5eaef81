package simulation

import (
	"github.com/podverdict/podverdict/controller/plan"
)

// limitedFailure is where the verdict on a pod stands that matches a rule with a budget.
type limitedFailure struct{ event, record int }

// revise gives the pods whose budget is used up, and of which the Plan is sure, the verdict that they have then.
func (s *simulator) revise(p plan.Plan) {
	for uid, at := range s.limited {
		if p.Undecided[uid] {
			continue
		}
		delete(s.limited, uid)
		verdict, usedUp := p.UsedUp[uid]
		if !usedUp {
			continue
		}
		told, attempt := &s.result.Events[at.event], &s.result.Attempts[at.record]
		if attempt.Fate == Fate(told.Verdict.Action) {
			attempt.Fate = Fate(verdict.Action)
		}
		s.result.Summary.Verdicts[string(told.Verdict.Action)]-- // some are within the budget
		s.result.Summary.Verdicts[string(verdict.Action)]++
		told.Verdict = &verdict
	}
}
