package verdicts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/runtime"
)

// beforeItem is the verdict under the rules before a change.
type beforeItem struct {
	Verdict runtime.Verdict  `json:"verdict"`
	Living  *runtime.Verdict `json:"living,omitempty"`

	item Item
}

// compare pairs the verdicts on the same Pods before and after a change of the rules, and sorts changed verdicts first.
func compare(before, after []Item) {
	for i := range after {
		old := before[i]
		after[i].Before = &beforeItem{Verdict: old.Verdict, Living: old.Living, item: old}
		after[i].Changed = !sameEffect(old, after[i])
	}
	slices.SortStableFunc(after, func(a, b Item) int { return changedFirst(a.Changed, b.Changed) })
}

// changedFirst orders changed before unchanged.
func changedFirst(a, b bool) int {
	order := map[bool]int{true: 0, false: 1}
	return order[a] - order[b]
}

// sameEffect reports whether two verdicts have the same effect on the Job, regardless of the deciding rule.
func sameEffect(a, b Item) bool {
	v, w := a.effective(), b.effective()
	return a.Ended == b.Ended && sameJobSet(a.JobSet, b.JobSet) && a.Restarting() == b.Restarting() && v.Terminal == w.Terminal && v.Action == w.Action && v.Counted == w.Counted && v.Budget == w.Budget &&
		equality.Semantic.DeepEqual(v.RetryDelay, w.RetryDelay) && equality.Semantic.DeepEqual(v.Retry, w.Retry)
}

// effective returns the verdict that determines the Pod's effect on the Job. For a Pod that a rule on living Pods ends, it is that rule's
// verdict, provided the rule takes effect.
func (i Item) effective() runtime.Verdict {
	if i.Ended && len(i.Would) == 0 {
		return *i.Living
	}
	return i.Verdict
}

// effectiveAction returns the action, or "no verdict" if there is none.
func (i Item) effectiveAction() string {
	action := string(i.effective().Action)
	switch {
	case i.Ended && action != "":
		return "ended, " + action
	case i.Ended:
		return "ended"
	}
	return cmp.Or(action, i.Restarting(), "no verdict")
}

// effect describes what a verdict does to the Job: the action, with its budget and retry.
func (i Item) effect() string {
	v := i.effective()
	var more []string
	if b := v.Budget; b.Limit > 0 {
		more = append(more, fmt.Sprintf("%s, then %s", b, b.Then))
	}
	delay := ""
	if v.RetryDelay != nil {
		delay = v.RetryDelay.String()
	}
	if retry := print.RetryText(delay, v.Retry); retry != "" {
		more = append(more, retry)
	}
	if len(more) == 0 {
		return i.effectiveAction()
	}
	return i.effectiveAction() + " (" + strings.Join(more, "; ") + ")"
}

// change returns the effects before and after a change: "Count -> Ignore". For an unchanged verdict it returns the effect.
func (i Item) change() string {
	if !i.Changed {
		return i.effect()
	}
	before, after := i.Before.item.effect(), i.effect()
	if a, b := i.Before.item.JobSet, i.JobSet; !sameJobSet(a, b) {
		before, after = before+a.inEffect(), after+b.inEffect()
	}
	return before + " -> " + after
}

// changeInBrief returns the actions before and after a change.
func (i Item) changeInBrief() string {
	before, after := i.Before.item.effectiveAction(), i.effectiveAction()
	if before == after {
		return after + " on other terms" // the budget or the retry changed
	}
	return arrow(before, after)
}

// arrow returns "a -> b", or "a" if both are equal.
func arrow(before, after string) string {
	if before == after {
		return after
	}
	return before + " -> " + after
}

// byRule returns the deciding rule and the reason: "rule 1: condition DisruptionTarget". Without a rule it returns the reason.
func (i Item) byRule() string {
	if rule := i.rule(); rule != print.None {
		return "rule " + rule + ", " + i.Decisive()
	}
	if i.Restarting() != "" {
		return i.Restarts[0].because()
	}
	return i.Decisive()
}

// changedAction returns the verdict cell. If a change of the rules changed the verdict, the cell shows both.
func (i Item) changedAction() string {
	if !i.Changed {
		return i.action()
	}
	return i.change()
}

// changedBecause returns the reason cell. For a changed verdict it includes the earlier reason.
func (i Item) changedBecause() string {
	if !i.Changed {
		return i.because()
	}
	return i.because() + "; before: " + i.Before.item.byRule()
}
