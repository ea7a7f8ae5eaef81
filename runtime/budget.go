package runtime

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// Budget is how many matches of a rule have its action, and what is the action of
// those after them. The zero value is no budget.
type Budget struct {
	Limit int32
	// Per is what the matches are counted for.
	Per  v1alpha1.BudgetScope
	Then batchv1.PodFailurePolicyAction
}

// UsedUp returns the verdict for a rule that has matched as often before as its budget
// allows: the action is that of the budget's Then. Without a budget it returns v itself.
func (v Verdict) UsedUp() Verdict {
	if v.Budget.Limit == 0 {
		return v
	}
	v.usedUp, v.Action = true, v.Budget.Then
	v.Counted = v.Action != batchv1.PodFailurePolicyActionIgnore
	return v
}

// IsUsedUp reports whether the action is that of a budget's Then.
func (v Verdict) IsUsedUp() bool { return v.usedUp }

func (b Budget) String() string {
	return strconv.Itoa(int(b.Limit)) + " per " + string(b.Per)
}
