package runtime

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// Budget limits the number of matches of a rule that get its action, and holds the action for later matches. The zero value
// means no budget.
type Budget struct {
	Limit int32
	// Per is the scope in which matches are counted.
	Per  v1alpha1.BudgetScope
	Then batchv1.PodFailurePolicyAction
}

// UsedUp returns the verdict for a rule whose budget is exhausted: its action is the budget's Then. Without a budget it
// returns v itself.
func (v Verdict) UsedUp() Verdict {
	if v.Budget.Limit == 0 {
		return v
	}
	v.usedUp, v.Action, v.Retry = true, v.Budget.Then, nil
	v.Counted = v.Action != batchv1.PodFailurePolicyActionIgnore
	return v
}

// IsUsedUp reports whether the action is the budget's Then.
func (v Verdict) IsUsedUp() bool { return v.usedUp }

func (b Budget) String() string {
	return strconv.Itoa(int(b.Limit)) + " per " + string(b.Per)
}
