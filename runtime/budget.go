package runtime

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// Budget limits how many matches of a rule get its action, and says which action later ones get. The zero value means no
// budget.
type Budget struct {
	Limit int32
	// Per is what matches are counted for.
	Per  v1alpha1.BudgetScope
	Then batchv1.PodFailurePolicyAction
}

// UsedUp returns the verdict for a rule whose budget is used up: its action is the budget's Then. Without a budget it returns
// v itself.
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
