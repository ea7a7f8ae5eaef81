package simulation

import (
	"github.com/podverdict/podverdict/controller/plan"
)

// limitedFailure is the position, in events and attempts, of the verdict on a pod that matches a rule with a budget.
type limitedFailure struct{ event, record int }

// revise corrects the verdicts on pods whose budget the Plan has found used up, once that is certain.
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
		event, attempt := &s.result.Events[at.event], &s.result.Attempts[at.record]
		if attempt.Fate == Fate(event.Verdict.Action) {
			attempt.Fate = Fate(verdict.Action)
		}
		s.result.Summary.Verdicts[string(event.Verdict.Action)]-- // some matches are within the budget
		s.result.Summary.Verdicts[string(verdict.Action)]++
		event.Verdict = &verdict
	}
}
