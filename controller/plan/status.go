package plan

import (
	"math"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// write sets Plan.Write if the status changes. A success beyond completions stays in the status until its pod is
// released. Otherwise the pod would count again if completions rose in between.
func (n *next) write() {
	n.count()
	n.keepLedger()
	if equality.Semantic.DeepEqual(n.status, n.Job.Status) || n.forgetting() {
		return
	}
	written := n.Job.DeepCopy()
	written.Status = n.status
	delete(written.Annotations, earlierLedger)
	n.plan.Write = written
	n.plan.Urgent = n.plan.Urgent || n.healed || n.unstored || n.newCondition()
}

func (n *next) forgetting() bool {
	held := func(p *pod) bool {
		return n.beyond(p) && p.succeeded() && parseIndexes(n.Job.Status.CompletedIndexes, math.MaxInt).has(p.slot)
	}
	return !n.deleting && slices.ContainsFunc(n.ended, held)
}

// newCondition reports whether a condition other than the ledger's must be written.
func (n *next) newCondition() bool {
	return slices.ContainsFunc(n.status.Conditions, func(c batchv1.JobCondition) bool {
		old := condition(n.Job.Status.Conditions, c.Type)
		return c.Type != LedgerCondition && (old == nil || *old != c)
	})
}

// keepLedger writes the ledger into a condition of the status, if the status is written anyway or the ledger itself has
// changed. It removes the condition from a finished Job.
func (n *next) keepLedger() {
	ended := n.goal != nil && condition(n.status.Conditions, n.goal.terminal) != nil
	changed := n.ledgered || n.healed || n.unstored || !equality.Semantic.DeepEqual(n.status, n.Job.Status)
	if !ended && !changed {
		return
	}
	if !n.indexed && (n.ledgered || n.healed || n.recorded) {
		n.ledger.Succeeded, n.ledger.Attempts = n.completed.String(), n.jobHistory()
	}
	text := n.ledger.String()
	if ended || text == "" {
		n.status.Conditions = slices.DeleteFunc(n.status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == LedgerCondition })
		return
	}
	if n.ledger.Lost && (n.losing || !n.view.ledger.Lost) {
		n.plan.Events = append(n.plan.Events, lostEvent())
	}
	n.setCondition(LedgerCondition, corev1.ConditionTrue, ledgerFormat, text)
}

// count sets the counters. They never shrink, except for successes beyond the completions of an elastic Job.
func (n *next) count() {
	s := &n.status
	leaving, leavingReady := len(n.leaving), 0
	for _, p := range n.leaving {
		if p.ready() {
			leavingReady++
		}
	}
	// Just after parallelism was lowered, more active pods must not be reported (rule SN3).
	s.Active = min(counter(n.active-leaving), max(ptr.Deref(n.Job.Spec.Parallelism, 1), s.Active))
	s.Ready = new(min(counter(n.ready-leavingReady), s.Active))
	s.Terminating = new(counter(n.terminating + leaving))
	s.Failed = max(s.Failed, counter(n.shownFailed))
	s.Succeeded = counter(n.succeeded)
	s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{} // the ledger replaces it
	s.CompletedIndexes, s.FailedIndexes = "", nil
	if n.indexed {
		s.CompletedIndexes = n.completed.String()
	}
	if n.perIndex {
		s.FailedIndexes = new(n.failedIndexes.String())
	}
}

// counter returns a number of pods as the API stores it.
func counter(pods int) int32 { return int32(min(pods, math.MaxInt32)) } //nolint:gosec // it is in range

// start sets the start time when the Job is first seen and not suspended. A resumed Job gets its own event elsewhere.
func (n *next) start() {
	if n.status.StartTime != nil || n.suspended() {
		return
	}
	n.status.StartTime = n.now()
	if n.resuming() {
		return
	}
	n.plan.Events = append(n.plan.Events, startEvent())
	for _, problem := range n.allProblems() {
		n.plan.Events = append(n.plan.Events, problemEvent(problem))
	}
}

// noteSuspension updates the Suspended condition and the start time.
func (n *next) noteSuspension() {
	switch stored := condition(n.status.Conditions, batchv1.JobSuspended); {
	case n.suspended() && !hasCondition(n.Job, batchv1.JobSuspended):
		n.setCondition(batchv1.JobSuspended, corev1.ConditionTrue, "JobSuspended", "Job suspended")
		n.status.StartTime = nil
		n.plan.Events = append(n.plan.Events, suspendedEvent())
	case !n.suspended() && stored != nil && stored.Status != corev1.ConditionFalse:
		n.setCondition(batchv1.JobSuspended, corev1.ConditionFalse, "JobResumed", "Job resumed")
		n.status.StartTime = n.now()
		n.plan.Events = append(n.plan.Events, resumedEvent())
	}
}

// resuming reports whether the Job was resumed but its status still has the condition Suspended.
func (v *view) resuming() bool { return !v.suspended() && hasCondition(v.Job, batchv1.JobSuspended) }

func hasCondition(job *batchv1.Job, kind batchv1.JobConditionType) bool {
	found := condition(job.Status.Conditions, kind)
	return found != nil && found.Status == corev1.ConditionTrue
}

func condition(conditions []batchv1.JobCondition, kind batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range conditions {
		if conditions[i].Type == kind {
			return &conditions[i]
		}
	}
	return nil
}

// setCondition adds or changes a condition. If only the times would change, it does nothing.
func (n *next) setCondition(kind batchv1.JobConditionType, status corev1.ConditionStatus, reason, message string) {
	set := batchv1.JobCondition{
		Type: kind, Status: status, LastProbeTime: *n.now(), LastTransitionTime: *n.now(), Reason: reason, Message: message,
	}
	switch stored := condition(n.status.Conditions, kind); {
	case stored == nil:
		n.status.Conditions = append(n.status.Conditions, set)
	case stored.Status != status || stored.Reason != reason || stored.Message != message:
		*stored = set
	}
}

// now returns the time as the API stores it.
func (n *next) now() *metav1.Time {
	now := metav1.NewTime(n.Now).Rfc3339Copy()
	return &now
}
