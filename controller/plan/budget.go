package plan

import (
	"encoding/hex"
	"hash/fnv"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
)

// budget is the ledger's record of a rule's matches within its budget.
type budget struct {
	// Matches is the number of matches.
	Matches int32 `json:"matches"`
	// Held lists the matching pods that still exist with a finalizer. Their decisions do not change when other pods are
	// observed later.
	Held []types.UID `json:"held,omitempty"`
}

// maxBudgets is the maximum number of rules with a budget in a Job's ledger or a pod's annotation.
const maxBudgets = 128

// maxRuleKey is the maximum length of a ruleKey in bytes.
const maxRuleKey = 80

// ruleKey returns the key under which a rule's matches are counted: POLICY/RULE, or a prefix of it and a hash if it is
// too long.
func ruleKey(v runtime.Verdict) string {
	key := v.Policy + "/" + v.RuleName
	if len(key) <= maxRuleKey {
		return key
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(key))                  // never fails
	text := "~" + hex.EncodeToString(hash.Sum(nil)) // no name contains a tilde
	return key[:maxRuleKey-len(text)] + text
}

// spend decides which failed pods get their rule's action and which get the action for a used-up budget.
//
// Matches within a Job's budget are decided in the order in which the pods finished. The ledger stores each decision, and
// nothing relies on it until it is stored. For a budget per index, each pod carries the number of earlier matches at its
// index, which never changes.
//
// A pod without a slot does not match. Neither does a pod whose failure was seen after it had lost its finalizer, because
// it was dismissed. These pods get neither action.
func (v *view) spend() {
	v.decisions = decisions{budgets: map[string]budget{}}
	if len(v.limited)+len(v.ledger.Budgets) == 0 {
		return
	}
	v.holdBudgets()
	var matching []*pod
	for p := range v.limited {
		switch {
		case v.indexed && p.judged.Budget.Per == v1alpha1.PerIndex:
			v.decide(p, v.spendIndex)
		case p.held:
			matching = append(matching, p)
		}
	}
	slices.SortFunc(matching, compareFinish)
	for _, p := range matching {
		v.decide(p, v.spendJob)
	}
}

// decide repeats the decision on a pod whose rule has a budget, and records whether it has changed.
func (v *view) decide(p *pod, spend func(*pod)) {
	used, matched, decision := p.verdict.IsUsedUp(), p.matched, p.decision
	p.rule, p.verdict, p.matched, p.decision = ruleKey(*p.judged), p.judged, false, known
	spend(p)
	v.unstored = v.unstored || p.decision == unstored
	if used != p.verdict.IsUsedUp() || matched != p.matched || decision != p.decision {
		v.dirty[p.slot] = true
	}
}

// useUp gives a pod the action for a used-up budget.
func (p *pod) useUp() { p.verdict = new(p.judged.UsedUp()) }

// spendIndex decides on a pod by the number of matches of earlier pods at its index.
func (v *view) spendIndex(p *pod) {
	used, known := p.matches[p.rule]
	full := !known && len(p.matches) >= maxBudgets
	v.tooMany = v.tooMany || full
	switch {
	case full, v.ledger.Lost, used >= p.verdict.Budget.Limit:
		p.useUp()
	default:
		p.matched = p.held || !v.past(p) && p.DeletionTimestamp == nil // a dismissed pod does not match
	}
}

// holdBudgets copies the ledger's budgets without deleted pods, and records in each remaining pod the rules that list it.
func (v *view) holdBudgets() {
	held := map[types.UID]*pod{}
	for _, p := range v.ended {
		p.within = nil
		held[p.UID] = p
	}
	for rule, b := range v.ledger.Budgets {
		kept := budget{Matches: b.Matches}
		for _, uid := range b.Held {
			if p := held[uid]; p != nil {
				p.within = append(p.within, rule)
				kept.Held = append(kept.Held, uid)
				v.entries++
			}
		}
		v.budgets[rule] = kept
	}
}

// spendJob decides on a held pod that matches a rule with a budget for the whole Job.
func (v *view) spendJob(p *pod) {
	used, begun := v.budgets[p.rule]
	limit, stored := p.verdict.Budget.Limit, v.ledger.Budgets[p.rule].Matches
	switch {
	case slices.Contains(p.within, p.rule):
	case v.ledger.Lost:
		p.useUp()
	case used.Matches >= limit:
		p.useUp()
		p.unstoredIf(stored < limit)
	case !begun && len(v.budgets) >= maxBudgets:
		p.useUp()
		p.unstoredIf(len(v.ledger.Budgets) < maxBudgets)
		v.tooMany = true
	case v.past(p): // decided earlier, maybe by other rules
	case v.entries >= v.settings.MaxReleasing:
		p.decision, v.crowded = postponed, true
	default:
		v.budgets[p.rule] = budget{used.Matches + 1, append(used.Held, p.UID)}
		v.entries++
		p.decision = unstored
	}
}

func (p *pod) unstoredIf(unwritten bool) {
	if unwritten {
		p.decision = unstored
	}
}

// means reports whether the pod's failure has the given action. Rules with a budget do not apply to pods that cannot
// match.
func (p *pod) means(action batchv1.PodFailurePolicyAction) bool {
	return p.decided() && p.verdict.Matched && p.verdict.Action == action && (p.held && p.slot != none || p.verdict.Budget.Limit == 0)
}

// decided reports whether the meaning of a pod's failure is decided.
func (p *pod) decided() bool { return p.failed && p.decision != postponed }

// tellDecisions adds to the Plan the pods whose budgets are used up and the pods that are still undecided.
func (n *next) tellDecisions() {
	if len(n.limited) == 0 {
		return
	}
	n.plan.UsedUp, n.plan.Undecided = map[types.UID]runtime.Verdict{}, map[types.UID]bool{}
	for p := range n.limited {
		switch {
		case p.decision != known:
			n.plan.Undecided[p.UID] = true
		case p.verdict.IsUsedUp():
			n.plan.UsedUp[p.UID] = *p.verdict
		}
	}
}
