package suites

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/runtime"
)

// Coverage counts how often the cases have tried each rule. A rule should decide at least once, and not match at least once.
type Coverage struct {
	Rules []RuleCoverage
	// Threshold is what the share of covered rules must be at least, in percent.
	Threshold int

	index map[ruleID]int
}

// RuleCoverage is how often a rule decided, and how often it was tried and did not match.
type RuleCoverage struct {
	ruleID

	Matched    int `json:"matched"`
	NotMatched int `json:"notMatched"`
	// Always tells that the rule is true by its text: it cannot not match.
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

// MarshalJSON writes the shares too.
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

// add counts the rules that a case has tried. It counts none when a rule could not be evaluated or a rule on Pending has
// ended the Pod, and not the Job's own rules when the case changes them.
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

// isTooLow reports whether the share of covered rules is below the threshold.
func (c *Coverage) isTooLow() bool { return c.Percent() < c.Threshold }
