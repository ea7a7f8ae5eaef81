package suites

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/runtime"
)

// Coverage counts how often each rule was tried by the cases. Full coverage means that each rule decided at least once and
// failed to match at least once.
type Coverage struct {
	Rules []RuleCoverage
	// Threshold is the minimum coverage, in percent.
	Threshold int

	index map[ruleID]int
}

// RuleCoverage counts how often a rule decided, and how often it was tried without matching.
type RuleCoverage struct {
	ruleID

	Matched    int `json:"matched"`
	NotMatched int `json:"notMatched"`
	// Always reports whether the rule's expression is the literal true, so that it always matches.
	Always bool `json:"always,omitempty"`
}

func (s *Suite) newCoverage() *Coverage {
	c := &Coverage{Rules: []RuleCoverage{}, index: map[ruleID]int{}}
	if s.Threshold != nil {
		c.Threshold = *s.Threshold
	}
	add := func(id ruleID, always bool) {
		c.index[id] = len(c.Rules)
		c.Rules = append(c.Rules, RuleCoverage{ruleID: id, Always: always})
	}
	for _, p := range s.rulebook.policies {
		for i := range p.Rules {
			add(ruleID{p.Name, i, p.Rules[i].Name}, strings.TrimSpace(p.Rules[i].When) == "true")
		}
	}
	for i := range ownRules(s.base.policy) {
		add(ruleID{Rule: i}, false)
	}
	return c
}

// MarshalJSON includes the coverage in percent.
func (c *Coverage) MarshalJSON() ([]byte, error) {
	covered, total := c.Covered()
	return json.Marshal(struct {
		Percent   int            `json:"percent"`
		Covered   int            `json:"covered"`
		Total     int            `json:"total"`
		Threshold int            `json:"threshold"`
		Rules     []RuleCoverage `json:"rules"`
	}{c.Percent(), covered, total, c.Threshold, c.Rules})
}

// add counts the rules that a case tried. It counts none if a rule could not be evaluated or a rule on Pending ended the
// Pod. It skips the Job's own rules if the case changes them.
func (c *Coverage) add(r *CaseResult, base *judge) {
	pod := r.trial.pod.Object
	if r.Verdict.Err != nil || pod.Status.Phase == corev1.PodFailed && runtime.EndedBy(pod) != nil {
		return
	}
	changed := r.trial.judge.own != base.own
	for _, id := range r.trial.judge.asked(r, r.trial.audited) {
		decides := r.Verdict.Matched && id == idOf(r.Verdict)
		switch {
		case id.Policy == "" && changed:
		case decides:
			c.Rules[c.index[id]].Matched++
		default:
			c.Rules[c.index[id]].NotMatched++
		}
		if decides {
			return
		}
	}
}

// Covered returns how many outcomes have been seen and how many are possible. Each rule has two outcomes, matched and not
// matched.
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

// Percent returns the coverage in percent, rounded down, so 100 means full coverage. It returns 100 if there are no rules.
func (c *Coverage) Percent() int {
	covered, total := c.Covered()
	if total == 0 {
		return 100
	}
	return covered * 100 / total
}

// Missing describes the outcomes that were not seen, one line per rule.
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

// isTooLow reports whether the coverage is below the threshold.
func (c *Coverage) isTooLow() bool { return c.Percent() < c.Threshold }
