package plan

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// slot has the pods of a completion index, of a completion of another Job, or the pods without either.
type slot struct {
	number int
	pods   []*pod // sorted by attempt and name
	state  slotState
}

// slotState is the state derived from the pods of a slot.
type slotState struct {
	totals

	// completed and failed are true if the slot has succeeded, or will not be retried. If occupied, no pod may be created
	// for it.
	completed, failed, occupied bool
	// donor is the failed pod that waits for a replacement, which inherits its failure count; or nil.
	donor *pod
	// carrier is the failed pod that carries data for the next pod; or nil.
	carrier *pod
	// failing is the first pod whose failure fails the Job; or nil.
	failing *pod
	// wanted has the active pod that works on the slot, if any. The other active pods are unwanted.
	wanted, unwanted []*pod
}

// marked reports whether the slot needs a Plan's attention.
func (s *slotState) marked() bool { return s.failing != nil || len(s.unwanted) > 0 }

// totals are numbers of pods.
type totals struct {
	active, ready, terminating int
	// failures are counted, but not yet by the ledger; donors are the failures that wait for a replacement.
	failures, donors int
	// heldEnded are held and in a final phase, heldFailed are held and count as failed.
	heldEnded, heldFailed int
	// atWork counts slots with a wanted pod, and restarts container restarts in pods that have not ended.
	atWork, restarts int
}

// add adds other totals the given number of times, which may be -1.
func (t *totals) add(o totals, times int) {
	t.active += times * o.active
	t.ready += times * o.ready
	t.terminating += times * o.terminating
	t.failures += times * o.failures
	t.donors += times * o.donors
	t.heldEnded += times * o.heldEnded
	t.heldFailed += times * o.heldFailed
	t.atWork += times * o.atWork
	t.restarts += times * o.restarts
}

// evaluate derives the state of a slot. It depends only on the slot's pods, its stored record, and the terms.
func (v *view) evaluate(s *slot) slotState {
	var t slotState
	for _, p := range s.pods {
		t.count(p)
	}
	t.completed = v.stored.completed.has(s.number) || v.assumed.has(s.number) || slices.ContainsFunc(s.pods, v.completes)
	// An index that succeeded stays completed, whatever happens to a second pod of it.
	ends := func(p *pod) bool { return v.endsIndex(p) && !s.replaced(p) }
	t.failed = v.stored.failed.has(s.number) || !t.completed && slices.ContainsFunc(s.pods, ends)
	t.occupied = v.hasSlot(s.number) && slices.ContainsFunc(s.pods, v.occupies)
	t.setActive(v.activeAt(s), v.hasSlot(s.number) && !t.completed && !t.failed)
	if !t.completed && !t.failed {
		t.carrier = v.carrierOf(s)
		if t.active == 0 {
			t.donor = v.donorOf(s)
		}
	}
	t.addFailures(v, s)
	return t
}

// addFailures counts the failures of a slot's pods, and finds the first failure that fails the Job.
func (s *slotState) addFailures(v *view, of *slot) {
	for _, p := range of.pods {
		if v.counts(p) {
			s.failures++
			if p == s.donor {
				s.donors++
			}
		}
		if !v.past(p) && p.means(batchv1.PodFailurePolicyActionFailJob) && (s.failing == nil || compareFinish(p, s.failing) < 0) {
			s.failing = p
		}
	}
}

// count adds a pod to the totals.
func (t *totals) count(p *pod) {
	switch {
	case p.terminating():
		t.terminating++
	case p.active():
		t.active++
		if p.ready() {
			t.ready++
		}
	}
	if p.held && p.terminal() {
		t.heldEnded++
	}
	if p.held && p.failed {
		t.heldFailed++
	}
	t.restarts += p.restarts()
}

// restarts returns the number of container restarts in a pod that has not ended. With restartPolicy OnFailure they count
// towards backoffLimit.
func (p *pod) restarts() int {
	if p.Status.Phase != corev1.PodRunning && p.Status.Phase != corev1.PodPending {
		return 0
	}
	sum := 0
	for _, statuses := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for _, c := range statuses {
			sum += int(c.RestartCount)
		}
	}
	return sum
}

// completes reports whether a pod completes its slot.
func (v *view) completes(p *pod) bool {
	return v.valid(p) && p.succeeded() && !v.stored.failed.has(p.slot)
}

// endsIndex reports whether a rule or the limit per index has failed the pod's index for good. Once the Job fails, no pod
// ends its index, as upstream: the pods that the Job stops have not failed by themselves.
func (v *view) endsIndex(p *pod) bool {
	if !v.perIndex || v.stage == jobFailing || !p.held || v.past(p) || !p.decided() || !v.valid(p) {
		return false
	}
	return p.means(batchv1.PodFailurePolicyActionFailIndex) ||
		p.verdict.Counted && annotatedCount(p.Pod, batchv1.JobIndexFailureCountAnnotation) >= v.limitPerIndex
}

// replaced reports whether a later attempt, which was not dismissed, has replaced the pod. Creating that attempt decided
// that the pod does not end the index, and rules that have changed since do not reopen the decision.
func (s *slot) replaced(p *pod) bool {
	return p.attempt != none && slices.ContainsFunc(s.pods, func(later *pod) bool { return later.held && later.attempt > p.attempt })
}

// occupies reports whether the pod prevents the creation of another pod at its slot.
func (v *view) occupies(p *pod) bool {
	return p.active() || p.decision == postponed || v.onlyFailed && p.terminating()
}

// activeAt returns the active pods of a slot, with the most progress first.
func (v *view) activeAt(s *slot) []*pod {
	var active []*pod
	for _, p := range s.pods {
		if p.active() {
			active = append(active, p)
		}
	}
	slices.SortFunc(active, func(a, b *pod) int { return compareProgress(b, a) })
	return active
}

// setActive divides the active pods of a slot: only one is wanted, and only if there is work left.
func (s *slotState) setActive(active []*pod, work bool) {
	if work && len(active) > 0 {
		s.atWork = 1
		s.wanted, active = active[:1:1], active[1:]
	}
	s.unwanted = active
}

// activePods returns the active pods, with the most progress first.
func (s *slotState) activePods() []*pod { return slices.Concat(s.wanted, s.unwanted) }

// donorOf picks the pod with the most failures before it, and the last one if several have as many.
func (v *view) donorOf(s *slot) (last *pod) {
	if !v.perIndex || !v.hasSlot(s.number) {
		return nil
	}
	for _, p := range s.pods {
		if p.held && p.failed && (last == nil || precedingFailures(last.Pod) <= precedingFailures(p.Pod) && !p.finish.Before(last.finish)) {
			last = p
		}
	}
	return last
}

// counts reports whether a pod is a failure that the ledger has not counted yet. It counts even if the Job has lost the
// index meanwhile, because a counted failure stays counted.
func (v *view) counts(p *pod) bool {
	return p.held && p.decided() && !p.releasing && (v.valid(p) || p.attempt != none) && p.verdict.Counted
}

// lostSuccesses returns the number of successes that the status of a Job without indexes counts but that are not known.
func (v *view) lostSuccesses() int {
	if v.indexed {
		return 0
	}
	return int(v.Job.Status.Succeeded) - v.completed.size()
}

// assume marks slots of a Job without indexes as completed if the ledger that listed them was lost; status.succeeded has
// their number. It picks slots with a succeeded pod first, then the lowest slots without a pod, so that the right number
// of slots remains to run.
func (v *view) assume(lost int) {
	var shown, known []int
	for _, p := range v.all() {
		if !v.valid(p) {
			continue
		}
		known = append(known, p.slot)
		if p.Status.Phase == corev1.PodSucceeded && !v.completed.has(p.slot) {
			shown = append(shown, p.slot)
		}
	}
	shown = slices.Compact(shown)
	shown = shown[:min(lost, len(shown))]
	others := v.completed.union(setOf(known)).missing(lost-len(shown), v.completions)
	v.assumed = others.union(setOf(shown))
}

// attemptAt returns the number of a slot's next attempt: one more than its last. Only a pod made by a user can have the
// highest possible number; the next attempt then gets the lowest free number.
func (v *view) attemptAt(number int) int {
	next, free := 0, 0
	for _, p := range v.podsAt(number) {
		next = max(next, p.attempt+1)
		if p.attempt == free {
			free++
		}
	}
	if next > maxNumber {
		return free
	}
	return next
}

// podsAt returns the pods of a slot.
func (v *view) podsAt(number int) []*pod {
	if s := v.slots[number]; s != nil {
		return s.pods
	}
	return nil
}

// comparePlace orders pods by slot, attempt and name, so that a Plan does not depend on the order of a cache.
func comparePlace(a, b *pod) int {
	return cmp.Or(a.slot-b.slot, a.attempt-b.attempt, cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
}
