package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// hold lets ended pods go as soon as nothing depends on them, so that they and their namespace can be deleted while no
// controller is at work. Those that must go do so at once, and the others when there is nothing better to call for.
func (n *next) hold() {
	if n.goal != nil || n.deleting {
		n.donors, n.shownFailed = nil, n.failedPods // no index is tried again
	}
	if n.stage != jobWorking || n.deleting {
		n.carriers = nil
	}
	if !n.deleting {
		isLast := n.lastAttempts()
		n.plan.Delete = append(n.plan.Delete, n.oldFailures(func(p *pod) bool { return n.isDonor(p) || n.carriers[p.UID] || isLast(p) })...)
	}
	surplus := n.surplus()
	for _, p := range n.pods {
		if !p.held || n.leaving[p.UID] {
			continue
		}
		mustGo := p.DeletionTimestamp != nil || n.deleting || surplus[p.Name] || n.beyond(p) || n.crowded && len(p.within) > 0 || n.Volatile && p.failed
		if mustGo || p.releasing || p.terminal() && n.goal == nil {
			n.letGo(p, mustGo)
		}
	}
	if n.ledgered && !n.perIndex {
		n.remember()
	}
}

// beyond reports whether a pod has ended whose index the Job had, and has no more. It must go: if completions rise again, the
// index is worked on again, whoever was faster.
func (n *next) beyond(p *pod) bool { return n.indexed && p.terminal() && p.slot >= n.completions }

// remember has the ledger keep what the delay depends on.
func (n *next) remember() {
	n.ledger.Backoff = nil
	if failures := n.streak(); failures.Failures > 0 {
		n.ledger.Backoff = &failures
	}
}

// release is what becomes of a pod that is to lose the finalizer.
type release uint8

const (
	keep   release = iota // something depends on the pod: a later Plan lets it go
	record                // the ledger counts its failure first
	store                 // the ledger, which has what the pod tells, is written first
	letGo                 // nothing depends on it
)

// letGo releases a pod if what it tells is stored, or nothing, and else has it stored: at once if it must go.
func (n *next) letGo(p *pod, must bool) {
	switch n.releaseOf(p) {
	case keep:
	case record:
		if n.record(p, must) && n.isDonor(p) {
			n.shownFailed++ // its replacement has got the failure count from it
		}
	case store:
		n.store(must)
	case letGo:
		if p.terminal() && !must {
			n.plan.Free = append(n.plan.Free, p.Pod)
		} else {
			n.plan.Release = append(n.plan.Release, p.Pod)
		}
	}
}

func (n *next) releaseOf(p *pod) release {
	undecided := p.decision == unstored && !n.deleting
	switch {
	case p.decision == postponed && !n.deleting:
		return keep
	case n.counts(p) && n.mayRecord(p):
		return record
	case n.counts(p) || undecided || n.isDonor(p) || n.carriers[p.UID]:
		return keep
	case n.tellsNews(p):
		return store
	case p.terminal() || p.failed || !n.valid(p) || n.stage == jobSucceeding || n.deleting:
		return letGo
	default:
		return keep
	}
}

// mayRecord reports whether the ledger may count a failure instead of the pod. A pod from which its replacement gets a
// failure count is counted early only if it could still succeed.
func (n *next) mayRecord(p *pod) bool {
	switch {
	case p.decision == unstored && !n.deleting: // what it tells is known from nothing else yet
		return n.Volatile && !n.isDonor(p) // in the write that has what was decided
	case n.isDonor(p):
		return !p.terminal()
	case n.carriers[p.UID]:
		return n.Volatile || !p.terminal()
	default:
		return true
	}
}

// tellsNews reports whether a pod that does not count any more says what the status and the ledger do not.
func (n *next) tellsNews(p *pod) bool {
	if p.succeeded() && n.valid(p) && !n.storedCompleted.has(p.slot) && !n.storedFailed.has(p.slot) {
		return true
	}
	return p.failed && !n.deleting && (n.goal == nil && !n.remembered(p) || n.Volatile && !n.view.ledger.Volatile)
}

// record has the ledger count a failure, if it has room.
func (n *next) record(p *pod, must bool) bool {
	if len(n.ledger.Releasing) >= n.settings.MaxReleasing {
		return false
	}
	n.ledger.Releasing = append(n.ledger.Releasing, p.UID)
	n.store(must)
	return true
}

// store has the ledger written, with the next counters or at once.
func (n *next) store(atOnce bool) {
	n.ledgered = true
	n.plan.Urgent = n.plan.Urgent || atOnce
}

// surplus returns the names of the terminal pods, oldest first, that are more than may be held. Letting them go can wait while
// there is something better to call for, until they are twice as many.
func (n *next) surplus() map[string]bool {
	most := n.settings.MaxHeld
	if len(n.plan.Create) > 0 || n.goal != nil {
		most *= 2
	}
	var held []*pod
	for _, p := range n.pods {
		if p.held && p.terminal() {
			held = append(held, p)
		}
	}
	return names(oldest(held, len(held)-most))
}

// oldest returns the pods that finished first.
func oldest(pods []*pod, count int) []*pod {
	if count <= 0 {
		return nil
	}
	slices.SortFunc(pods, compareFinish)
	return pods[:count]
}

func names(pods []*pod) map[string]bool {
	set := make(map[string]bool, len(pods))
	for _, p := range pods {
		set[p.Name] = true
	}
	return set
}

// lastAttempts returns the filter of the pods that are the last ones of slots that are to be tried again: custom rules may ask for the number of
// the attempt, which the names tell.
func (n *next) lastAttempts() func(*pod) bool {
	if !n.Volatile || n.goal != nil || n.failedPodsLimit == noFailedPodsLimit {
		return func(*pod) bool { return false }
	}
	attempts, taken := n.attempts(), n.takenSlots()
	return func(p *pod) bool {
		return p.attempt != none && p.attempt+1 == attempts[p.slot] && n.valid(p) && !taken.has(p.slot)
	}
}

// oldFailures returns the failed pods beyond the number that the Job's annotation asks for, those aside that are wanted anyway.
func (v *view) oldFailures(wanted func(*pod) bool) []*corev1.Pod {
	if v.failedPodsLimit == noFailedPodsLimit {
		return nil
	}
	var failed []*pod
	for _, p := range v.pods {
		if p.Status.Phase == corev1.PodFailed && p.DeletionTimestamp == nil && !wanted(p) {
			failed = append(failed, p)
		}
	}
	var deleted []*corev1.Pod
	for _, p := range oldest(failed, len(failed)-v.failedPodsLimit) {
		deleted = append(deleted, p.Pod)
	}
	return deleted
}

// retire lets all pods of a finished Job go. Active ones are late arrivals, and not wanted.
func (v *view) retire() Plan {
	plan := Plan{Problems: v.problems, Delete: v.oldFailures(func(*pod) bool { return false })}
	for _, p := range v.pods {
		switch {
		case p.active() && !v.deleting:
			plan.Dismiss = append(plan.Dismiss, p.Pod)
		case p.held:
			plan.Release = append(plan.Release, p.Pod)
		}
	}
	return plan
}
