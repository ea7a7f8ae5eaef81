package plan

import (
	"encoding/json"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// LedgerCondition is the type of the condition of a managed Job whose message is its ledger. It is there while pods have been
// let go that the status counts, or when rules with a budget have matched, or rules that may change have decided. The package
// comment says why it is a condition.
const LedgerCondition batchv1.JobConditionType = "podverdict.io/Ledger"

// ledgerFormat is the reason of the condition. Fields may be added to a ledger of this format. One that older programs would
// misread must have another format: they take it for lost.
const ledgerFormat = "FormatV1"

// earlierLedger is the annotation of a Job in which programs that know no LedgerCondition keep their ledger. On a Job that is
// under way it says that one of them ran it.
const earlierLedger = "podverdict.io/ledger"

// Ledger returns the text of a Job's ledger. It is empty when the Job has none.
func Ledger(status *batchv1.JobStatus) string {
	if c := condition(status.Conditions, LedgerCondition); c != nil {
		return c.Message
	}
	return ""
}

// ledger is what is known of pods that are gone. With it the counters are a function of the pods that are held:
//
//	failed = Failed + len(Releasing) + the failed pods that are held and not in Releasing
type ledger struct {
	// Failed is how many failures were counted whose pods are not held any more.
	Failed int `json:"failed,omitempty"`
	// Releasing are pods that are counted as failures, and are about to be let go, or were.
	Releasing []types.UID `json:"releasing,omitempty"`
	// Succeeded are the completed slots of a Job without indexes, in the form of completedIndexes: what is done once
	// cannot be counted twice.
	Succeeded string `json:"succeeded,omitempty"`
	// Backoff is how many pods had failed since the last success, and when the last of them had, for a Job without
	// backoffLimitPerIndex.
	Backoff *streak `json:"backoff,omitempty"`
	// Budgets are, by rule, the matches of those whose budget is the Job's.
	Budgets map[string]budget `json:"budgets,omitempty"`
	// Volatile is true when rules that may be others now have decided on failed pods.
	Volatile bool `json:"volatile,omitempty"`
	// Lost is true when an earlier ledger was lost: more pods have ended than this one knows. All budgets count as used up.
	Lost bool `json:"lost,omitempty"`
}

func (l ledger) empty() bool {
	return l.Failed == 0 && len(l.Releasing) == 0 && l.Succeeded == "" && l.Backoff == nil && len(l.Budgets) == 0 && !l.Volatile && !l.Lost
}

// recorded returns the number of failures that do not depend on pods any more.
func (l ledger) recorded() int { return l.Failed + len(l.Releasing) }

// String returns the condition's message. It is empty for an empty ledger.
func (l ledger) String() string {
	if l.empty() {
		return ""
	}
	text, _ := json.Marshal(l) //nolint:errchkjson // strings, numbers and times always have a JSON form
	return string(text)
}

// readLedger takes the Job's ledger. One that cannot be read is lost, and so is one that an earlier program should have had a
// part in. What it should have said is restored by settle, as far as the counters of the status tell.
func (v *view) readLedger() {
	if stored := condition(v.Job.Status.Conditions, LedgerCondition); stored != nil {
		read, err := parseLedger(stored, v.Job)
		if err != nil {
			v.problems = append(v.problems, errLedger(stored.Message, err))
		}
		v.ledger, v.recorded, v.losing = read, err == nil, err != nil
	}
	v.losing = v.losing || underEarlier(v.Job) && !v.ledger.Lost
	v.ledger.Lost = v.ledger.Lost || v.losing
}

// underEarlier reports whether an earlier program has run a Job. What it allowed is not known: the counters do not tell all of
// it, and whoever may edit the Job may edit the annotation. On a Job that nobody has begun the annotation says nothing: it was
// copied from another one.
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
	if err := checkBudgets(read.Budgets); err != nil {
		return ledger{}, err
	}
	return read, nil
}

// checkBudgets refuses what no Plan writes.
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

// settle moves pods that are gone from the list to the number. Pods that were counted, but have vanished without us, because
// somebody took their finalizers, are added: status.failed remembers them. When there is no ledger that could know them, it is
// taken as lost, with all that it said of budgets.
func (n *next) settle() {
	held := make(map[types.UID]bool, len(n.pods))
	for _, p := range n.pods {
		if p.held && p.releasing {
			held[p.UID] = true
		}
	}
	gone := func(uid types.UID) bool { return !held[uid] }
	before := len(n.ledger.Releasing)
	n.ledger.Releasing = slices.DeleteFunc(slices.Clone(n.ledger.Releasing), gone)
	n.ledger.Failed += before - len(n.ledger.Releasing)
	n.ledger.Budgets = n.budgets
	n.ledger.Volatile = n.ledger.Volatile || n.Volatile && slices.ContainsFunc(n.pods, func(p *pod) bool { return p.held && p.failed })
	if vanished := int(n.Job.Status.Failed) - n.failedPods; vanished > 0 {
		n.ledger.Failed += vanished
		n.failedPods += vanished
		n.shownFailed += vanished
		n.healed = true
	}
	n.healed = n.healed || n.losing
	if lost := n.healed || n.assumed; lost && !n.recorded {
		n.ledger.Lost, n.healed = true, true
		n.ledger.Budgets = nil // what was to be entered is beyond a budget that is used up
	}
}
