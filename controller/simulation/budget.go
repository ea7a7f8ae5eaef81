package simulation

import (
	"github.com/podverdict/podverdict/controller/plan"
)

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
		event := &s.result.Events[at]
		s.result.Summary.Verdicts[string(event.Verdict.Action)]-- // some matches are within the budget
		s.result.Summary.Verdicts[string(verdict.Action)]++
		event.Verdict = &verdict
	}
}
