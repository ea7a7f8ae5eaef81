package evidence

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/podverdict/podverdict/runtime"
)

// ownRule is the prefix of names of rules in a Job's own podFailurePolicy.
const ownRule = "podFailurePolicy["

// ruleName returns the name of a rule: POLICY/RULE, or podFailurePolicy with the index.
func ruleName(policy, rule string, index int) string {
	if policy != "" {
		return policy + "/" + rule
	}
	return ownRule + strconv.Itoa(index) + "]"
}

// rule returns the name of the rule that decided, or "".
func (a *Attempt) rule() string {
	if v := a.Verdict; v.Matched {
		return ruleName(v.Policy, v.RuleName, v.Rule)
	}
	return ""
}

// inForce returns the names of the rules on failed Pods.
func inForce(rules *runtime.Program) (names []string) {
	for policy, index := range rules.OnFailed() {
		name := ""
		if policy.Name != "" {
			name = policy.Rules[index].Name
		}
		names = append(names, ruleName(policy.Name, name, index))
	}
	return names
}

// ruleKey returns the key of a rule in Fold.Rules: for rules of a podFailurePolicy, the owner of the Jobs precedes the name.
func ruleKey(owner, rule string) string {
	if strings.HasPrefix(rule, ownRule) {
		return owner + " " + rule
	}
	return rule
}

// addRules counts how often each rule in effect decided.
func (f *Fold) addRules(o *Outcome, attempts []*Attempt) {
	failed, decided := int64(0), map[string]int64{}
	for _, a := range attempts {
		if a.Failed && a.Judged {
			failed++
			decided[a.rule()]++
		}
	}
	delete(decided, "")
	if failed == 0 {
		return
	}
	for _, rule := range o.InForce {
		decided[rule] += 0
	}
	for rule, n := range decided {
		cell := f.Rules.at(ruleKey(o.Owner, rule))
		cell.Jobs++
		cell.Attempts += failed
		cell.Failed += n
	}
}

// IdleRule is a rule that was in effect but decided no failed attempt.
type IdleRule struct {
	// Rule is POLICY/RULE, or podFailurePolicy with an index; Owner is then the creator of the Jobs that have the rule.
	Rule  string `json:"rule"`
	Owner string `json:"owner,omitempty"`
	// Jobs counts the Jobs that the rule was in effect for and that had failed attempts. Failed counts these attempts.
	Jobs   int64 `json:"jobs"`
	Failed int64 `json:"failed"`
}

// idleRules returns at most top rules that never decided, those with most failed attempts first, or all if top is 0. more is the
// number of omitted rules.
func (f *Fold) idleRules(top int) (rules []IdleRule, more int) {
	f.Rules.Shrink()
	rules = []IdleRule{}
	for _, key := range slices.Sorted(maps.Keys(f.Rules.Cells)) {
		cell := f.Rules.Cells[key]
		if cell.Failed > 0 {
			continue
		}
		r := IdleRule{Rule: key, Jobs: cell.Jobs, Failed: cell.Attempts}
		if at := strings.LastIndex(key, " "+ownRule); at >= 0 {
			r.Owner, r.Rule = key[:at], key[at+1:]
		}
		rules = append(rules, r)
	}
	slices.SortStableFunc(rules, func(a, b IdleRule) int { return cmp.Compare(b.Failed, a.Failed) })
	if top > 0 && len(rules) > top {
		return rules[:top], len(rules) - top
	}
	return rules, 0
}
