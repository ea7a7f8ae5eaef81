package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// hold releases ended pods as soon as nothing depends on them, so that they and their namespace can be deleted even while
// no controller runs. Pods that must go are released immediately, the others when no other calls are needed.
func (n *next) hold() {
	if n.goal != nil || n.deleting {
		n.over, n.shownFailed = true, n.failedPods
	}
	if !n.deleting {
		isLast := n.lastAttempts()
		n.plan.Delete = append(n.plan.Delete, n.oldFailures(func(p *pod) bool { return n.isDonor(p) || n.isCarrier(p) || isLast(p) })...)
	}
	surplus := n.surplus()
	held := n.ended
	if n.deleting {
		held = n.all()
	}
	for _, p := range held {
		if !p.held || n.leaving[p.UID] != nil {
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

// donor returns the failed pod of a slot that waits for a replacement, or nil.
func (n *next) donor(slot int) *pod {
	if s := n.slots[slot]; s != nil && !n.over {
		return s.state.donor
	}
	return nil
}

func (n *next) isDonor(p *pod) bool { return n.donor(p.slot) == p }

// isCarrier reports whether the next pod of the slot needs the data that a pod carries.
func (n *next) isCarrier(p *pod) bool {
	return n.stage == jobWorking && !n.deleting && n.slots[p.slot].state.carrier == p
}

// beyond reports whether a pod has ended at an index that the Job no longer has. It must be released: if completions rise
// again, the index runs again.
func (n *next) beyond(p *pod) bool { return n.indexed && p.terminal() && p.slot >= n.completions }

// remember stores the inputs of the delay in the ledger.
func (n *next) remember() {
	n.ledger.Backoff = nil
	if failures := n.streak(); failures.Failures > 0 {
		n.ledger.Backoff = &failures
	}
}

// release is the action for a pod that should lose the finalizer.
type release uint8

const (
	keep   release = iota // something depends on the pod: a later Plan releases it
	record                // the ledger counts the failure first
	store                 // the ledger, which has the pod's information, is written first
	letGo                 // nothing depends on the pod
)

// letGo releases a pod whose information is stored or not needed. Otherwise it has the information stored first,
// immediately if the pod must go.
func (n *next) letGo(p *pod, must bool) {
	switch n.releaseOf(p) {
	case keep:
	case record:
		if n.record(p, must) && n.isDonor(p) {
			n.shownFailed++ // its replacement has inherited the failure count
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
	case n.counts(p) || undecided || n.isDonor(p) || n.isCarrier(p):
		return keep
	case n.tellsNews(p):
		return store
	case p.terminal() || p.failed || !n.valid(p) || n.stage == jobSucceeding || n.deleting:
		return letGo
	default:
		return keep
	}
}

// mayRecord reports whether the ledger may count a failure so that the pod is no longer needed. A pod that passes its
// failure count to a replacement is counted early only if it could still succeed.
func (n *next) mayRecord(p *pod) bool {
	switch {
	case p.decision == unstored && !n.deleting: // only the pod shows the failure
		return n.Volatile && !n.isDonor(p) // the write that stores the decision counts it
	case n.isDonor(p):
		return !p.terminal()
	case n.isCarrier(p):
		return n.Volatile || !p.terminal()
	default:
		return true
	}
}

// tellsNews reports whether a pod that no longer counts has information that the status and the ledger lack.
func (n *next) tellsNews(p *pod) bool {
	if p.succeeded() && n.valid(p) && !n.stored.completed.has(p.slot) && !n.stored.failed.has(p.slot) {
		return true
	}
	return p.failed && !n.deleting && (n.goal == nil && (!n.remembered(p) || n.lacksAttempt(p)) || n.Volatile && !n.view.ledger.Volatile)
}

// record counts a failure in the ledger, if the ledger has room.
func (n *next) record(p *pod, must bool) bool {
	if len(n.ledger.Releasing) >= n.settings.MaxReleasing {
		return false
	}
	n.ledger.Releasing = append(n.ledger.Releasing, p.UID)
	n.store(must)
	return true
}

// store makes the Plan write the ledger, with the next counters or immediately.
func (n *next) store(atOnce bool) {
	n.ledgered = true
	n.plan.Urgent = n.plan.Urgent || atOnce
}

// surplus returns the names of the terminal pods beyond the number that may be held, oldest first. While other calls are
// needed, twice as many may be held.
func (n *next) surplus() map[string]bool {
	most := n.settings.MaxHeld
	if len(n.plan.Create) > 0 || n.goal != nil {
		most *= 2
	}
	if n.totals.heldEnded <= most {
		return nil
	}
	var held []*pod
	for _, p := range n.ended {
		if p.terminal() {
			held = append(held, p)
		}
	}
	return names(oldest(held, len(held)-most))
}

// oldest returns the count pods that finished first.
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

// lastAttempts returns a filter for the last pods of slots that will be retried. Custom rules may read the attempt
// number, which comes from the names of these pods.
func (n *next) lastAttempts() func(*pod) bool {
	if !n.Volatile || n.goal != nil || n.failedPodsLimit == noFailedPodsLimit {
		return func(*pod) bool { return false }
	}
	return func(p *pod) bool {
		return p.attempt != none && p.attempt+1 == n.attemptAt(p.slot) && n.valid(p) && !n.taken.has(p.slot)
	}
}

// oldFailures returns the failed pods beyond the limit in the Job's annotation, except for the wanted ones.
func (v *view) oldFailures(wanted func(*pod) bool) []*corev1.Pod {
	if v.failedPodsLimit == noFailedPodsLimit {
		return nil
	}
	var failed []*pod
	for _, p := range v.byFailure {
		if p.Status.Phase == corev1.PodFailed && p.DeletionTimestamp == nil && !wanted(p) {
			failed = append(failed, p)
		}
	}
	var deleted []*corev1.Pod
	for _, p := range failed[:max(0, len(failed)-v.failedPodsLimit)] {
		deleted = append(deleted, p.Pod)
	}
	return deleted
}

// retire releases all pods of a finished Job. It dismisses active pods: they were seen late and are not wanted.
func (v *view) retire() Plan {
	plan := Plan{Problems: v.allProblems(), Delete: v.oldFailures(func(*pod) bool { return false })}
	for _, p := range v.all() {
		switch {
		case p.active() && !v.deleting:
			plan.Dismiss = append(plan.Dismiss, p.Pod)
		case p.held:
			plan.Release = append(plan.Release, p.Pod)
		}
	}
	return plan
}
