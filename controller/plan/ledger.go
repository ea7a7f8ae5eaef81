package plan

import (
	"encoding/json"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// LedgerCondition is the type of the condition whose message is a managed Job's ledger. It exists while the status counts
// released pods, when rules with a budget have matched, or when rules that may change have decided. The package comment
// explains why it is a condition.
const LedgerCondition batchv1.JobConditionType = "podverdict.io/Ledger"

// ledgerFormat is the reason of the condition. Fields may be added within this format. A ledger that older programs would
// misread needs another format, so that they treat it as lost.
const ledgerFormat = "FormatV1"

// earlierLedger is the annotation in which older programs, without LedgerCondition, keep the ledger. On a Job in progress
// it shows that one of them ran the Job.
const earlierLedger = "podverdict.io/ledger"

// ledger records pods that are gone, so that the counters can be derived from the held pods:
//
//	failed = Failed + len(Releasing) + the failed pods that are held and not in Releasing
type ledger struct {
	// Failed is the number of counted failures whose pods are no longer held.
	Failed int `json:"failed,omitempty"`
	// Releasing lists pods that are counted as failures and are being released.
	Releasing []types.UID `json:"releasing,omitempty"`
	// Succeeded lists the completed slots of a Job without indexes, written like completedIndexes, so that no slot counts
	// twice.
	Succeeded string `json:"succeeded,omitempty"`
	// Backoff records, for a Job without backoffLimitPerIndex, the number of failures since the last success and the time
	// of the last one.
	Backoff *streak `json:"backoff,omitempty"`
	// Budgets has the matches by rule, for budgets of the whole Job.
	Budgets map[string]budget `json:"budgets,omitempty"`
	// Attempts lists the last failures of a Job without indexes, if rules read attempts.
	Attempts history `json:"attempts,omitempty"`
	// Volatile is true if rules that may have changed since decided on failed pods.
	Volatile bool `json:"volatile,omitempty"`
	// Lost is true if an earlier ledger was lost, so that more pods have ended than this one records. All budgets then
	// count as used up.
	Lost bool `json:"lost,omitempty"`
}

func (l ledger) empty() bool {
	return l.Failed == 0 && len(l.Releasing) == 0 && l.Succeeded == "" && l.Backoff == nil && len(l.Budgets) == 0 && len(l.Attempts) == 0 && !l.Volatile && !l.Lost
}

// recorded returns the number of failures that are counted without their pods.
func (l ledger) recorded() int { return l.Failed + len(l.Releasing) }

// String returns the condition's message, or the empty string for an empty ledger.
func (l ledger) String() string {
	if l.empty() {
		return ""
	}
	text, _ := json.Marshal(l) //nolint:errchkjson // strings, numbers and times always have a JSON form
	return string(text)
}

// readLedger reads the Job's ledger. The ledger is lost if it cannot be parsed or an older program kept its own. settle
// then restores the parts that the status's counters show.
func (v *view) readLedger() {
	if stored := condition(v.Job.Status.Conditions, LedgerCondition); stored != nil {
		read, err := parseLedger(stored, v.Job)
		if err != nil {
			v.problems = append(v.problems, errLedger(stored.Message, err))
		}
		v.ledger, v.recorded, v.losing = read, err == nil, err != nil
	} else {
		v.ledger, v.recorded, v.losing = ledger{}, false, false
	}
	v.losing = v.losing || underEarlier(v.Job) && !v.ledger.Lost
	v.ledger.Lost = v.ledger.Lost || v.losing
}

// underEarlier reports whether an older program has run the Job. The counters do not show all that it did, and its
// annotation can be edited by anybody who may edit the Job. On a Job that has not started, the annotation is ignored: it
// was copied from another Job.
func underEarlier(job *batchv1.Job) bool {
	_, given := job.Annotations[earlierLedger]
	return given && (job.Status.StartTime != nil || len(job.Status.Conditions) > 0)
}

func parseLedger(stored *batchv1.JobCondition, job *batchv1.Job) (ledger, error) {
	if stored.Reason != ledgerFormat {
		return ledger{}, errLedgerFormat(stored.Reason)
	}
	var read ledger
	if err := json.Unmarshal([]byte(stored.Message), &read); err != nil {
		return ledger{}, err
	}
	slices.Sort(read.Releasing)
	read.Releasing = slices.Compact(read.Releasing)
	if read.Failed < 0 {
		return ledger{}, errLedgerNegative(read.Failed)
	}
	if failed := int(job.Status.Failed); read.recorded() > failed {
		return ledger{}, errLedgerExceeds(read.recorded(), failed)
	}
	if b := read.Backoff; b != nil && !b.plausible() {
		return ledger{}, errLedgerBackoff()
	}
	if !read.Attempts.plausible() {
		return ledger{}, errLedgerAttempts()
	}
	if err := checkBudgets(read.Budgets); err != nil {
		return ledger{}, err
	}
	return read, nil
}

// checkBudgets returns an error for budgets that no Plan writes.
func checkBudgets(budgets map[string]budget) error {
	if len(budgets) > maxBudgets {
		return errTooManyBudgets()
	}
	for rule, b := range budgets {
		if b.Matches <= 0 || b.Matches > v1alpha1.MaxBudget || len(b.Held) > int(b.Matches) || len(rule) > maxRuleKey {
			return errLedgerBudget(rule)
		}
	}
	return nil
}

// settle moves deleted pods from Releasing to the number Failed. It adds counted pods that vanished because a user
// removed their finalizers: status.failed still counts them. If there was no ledger to record them, the ledger and its
// budgets are treated as lost.
func (n *next) settle() {
	held := make(map[types.UID]bool, len(n.ledger.Releasing))
	if len(n.ledger.Releasing) > 0 {
		for _, p := range n.ended {
			if p.releasing {
				held[p.UID] = true
			}
		}
	}
	gone := func(uid types.UID) bool { return !held[uid] }
	before := len(n.ledger.Releasing)
	n.ledger.Releasing = slices.DeleteFunc(slices.Clone(n.ledger.Releasing), gone)
	n.ledger.Failed += before - len(n.ledger.Releasing)
	n.ledger.Budgets = n.budgets
	n.ledger.Volatile = n.ledger.Volatile || n.Volatile && n.totals.heldFailed > 0
	if vanished := int(n.Job.Status.Failed) - n.failedPods; vanished > 0 {
		n.ledger.Failed += vanished
		n.failedPods += vanished
		n.shownFailed += vanished
		n.healed = true
	}
	n.healed = n.healed || n.losing
	if lost := n.healed || len(n.assumed) > 0; lost && !n.recorded {
		n.ledger.Lost, n.healed = true, true
		n.ledger.Budgets = nil // all budgets count as used up anyway
	}
}
