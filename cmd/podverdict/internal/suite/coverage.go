package suite

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/runtime"
)

// Coverage counts how often the cases have tried each rule. A rule should decide at least once, and not match at least once.
type Coverage struct {
	Rules []RuleCoverage

	index map[ruleID]int
}

// RuleCoverage is how often a rule decided, and how often it was tried and did not match.
type RuleCoverage struct {
	// Policy is empty for the Job's own rules, which have no names.
	Policy     string `json:"policy,omitempty"`
	Rule       int    `json:"rule"`
	Name       string `json:"ruleName,omitempty"`
	Matched    int    `json:"matched"`
	NotMatched int    `json:"notMatched"`
	// Always tells that the rule is true by its text: it cannot not match.
	Always bool `json:"always,omitempty"`
}

func (s *Suite) newCoverage() *Coverage {
	c := &Coverage{index: map[ruleID]int{}}
	for _, p := range s.rulebook.policies {
		for i := range p.Rules {
			c.append(RuleCoverage{
				Policy: p.Name, Name: p.Rules[i].Name, Rule: i, Always: strings.TrimSpace(p.Rules[i].When) == "true",
			})
		}
	}
	for i := range ownRules(s.base.policy) {
		c.append(RuleCoverage{Rule: i})
	}
	return c
}

func (c *Coverage) append(r RuleCoverage) {
	c.index[ruleID{r.Policy, r.Rule}] = len(c.Rules)
	c.Rules = append(c.Rules, r)
}

// add counts the rules that a case has tried. It counts none when a rule could not be evaluated or a rule on Pending has
// ended the Pod, and not the Job's own rules when the case changes them.
func (c *Coverage) add(r *CaseResult, base *judge) {
	in := r.trial.input
	if r.Verdict.Err != nil || in.Pod.Status.Phase == corev1.PodFailed && runtime.FailingToStart(in.Pod) != nil {
		return
	}
	changed := r.trial.judge.own != base.own
	for _, id := range r.trial.judge.asked(r, r.trial.audited) {
		if id.policy == "" && changed {
			if decides(id, &r.Verdict) {
				return
			}
			continue
		}
		if c.tried(id, &r.Verdict) {
			return
		}
	}
}

// tried counts one rule, and tells whether it was the last.
func (c *Coverage) tried(id ruleID, v *runtime.Verdict) bool {
	rule := &c.Rules[c.index[id]]
	if decides(id, v) {
		rule.Matched++
		return true
	}
	rule.NotMatched++
	return false
}

func decides(id ruleID, v *runtime.Verdict) bool { return v.Matched && id == idOf(*v) }

// Covered returns how many of the things to try have been tried, and how many there are: two for each rule.
func (c *Coverage) Covered() (covered, total int) {
	for i := range c.Rules {
		r := &c.Rules[i]
		total++
		if r.Matched > 0 {
			covered++
		}
		if r.Always {
			continue
		}
		total++
		if r.NotMatched > 0 {
			covered++
		}
	}
	return covered, total
}

// Percent returns the share of covered rules, rounded down: 100 means all. Without rules, all are covered.
func (c *Coverage) Percent() int {
	covered, total := c.Covered()
	if total == 0 {
		return 100
	}
	return covered * 100 / total
}

// Missing says what has not been tried, a line for each rule.
func (c *Coverage) Missing() []string {
	var all []string
	for i := range c.Rules {
		r := &c.Rules[i]
		matched, not := r.Matched == 0, r.NotMatched == 0 && !r.Always
		switch {
		case matched && not:
			all = append(all, r.Subject()+" was never tried")
		case matched:
			all = append(all, r.Subject()+" never decided")
		case not:
			all = append(all, r.Subject()+" always matched")
		}
	}
	return all
}

// Subject names the rule as verdicts do.
func (r *RuleCoverage) Subject() string {
	return runtime.RuleExplanation{Policy: r.Policy, RuleName: r.Name, Rule: r.Rule}.Subject()
}
