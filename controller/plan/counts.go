package plan

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// tally holds the counts derived from the pods and the ledger.
type tally struct {
	// active, ready and terminating are numbers of pods.
	active, ready, terminating int
	// failedPods is the number of counted failures.
	failedPods int
	// shownFailed is failedPods without the donors: as upstream, status.failed counts a pod of an index only once it is
	// replaced.
	shownFailed int
	// completed are the slots that succeeded.
	completed indexes
	// storedCompleted and storedFailed are the slots that the status and the ledger record as completed or finally failed.
	storedCompleted, storedFailed indexes
	// succeeded is the size of completed, or the status's count if that is higher.
	succeeded int
	// assumed is true if slots had to be assumed completed because the ledger was lost.
	assumed bool
	// failedIndexes are the indexes that will not be retried.
	failedIndexes indexes
	// donors are, by index, the failed pods that wait for a replacement, which takes over their failure count.
	donors map[int]*pod
	// carriers are the failed pods that carry the match counts of their index.
	carriers map[types.UID]bool
}

func (v *view) tally() tally {
	var t tally
	t.countPods(v)
	t.countSuccesses(v)
	if v.perIndex {
		t.countFailedIndexes(v)
		t.findDonors(v)
	}
	t.countFailures(v)
	t.findCarriers(v)
	return t
}

func (t *tally) countPods(v *view) {
	for _, p := range v.pods {
		switch {
		case p.terminating():
			t.terminating++
		case p.active():
			t.active++
			if p.ready() {
				t.ready++
			}
		}
	}
}

func (t *tally) countSuccesses(v *view) {
	t.storedCompleted, t.storedFailed = v.readCompleted(), v.readFailed()
	var succeeded []int
	for _, p := range v.pods {
		if v.valid(p) && p.succeeded() && !t.storedFailed.has(p.slot) {
			succeeded = append(succeeded, p.slot)
		}
	}
	t.completed = t.storedCompleted.union(setOf(succeeded))
	t.succeeded = t.completed.size()
	if lost := int(v.Job.Status.Succeeded) - t.succeeded; !v.indexed && lost > 0 {
		t.assume(v, lost)
	}
}

// assume marks slots of a Job without indexes as completed if the ledger that listed them was lost; status.succeeded tells
// how many. It takes slots with a succeeded pod first, then the lowest ones without a pod, so that the right number remains
// to be run.
func (t *tally) assume(v *view, lost int) {
	var shown []int
	for _, p := range v.pods {
		if v.valid(p) && p.Status.Phase == corev1.PodSucceeded && !t.completed.has(p.slot) {
			shown = append(shown, p.slot)
		}
	}
	shown = slices.Compact(shown)
	shown = shown[:min(lost, len(shown))]
	t.completed = t.completed.union(setOf(shown))
	known := t.completed.union(v.slotsOf(func(*pod) bool { return true }))
	t.completed = t.completed.union(known.missing(lost-len(shown), v.completions))
	t.succeeded += lost
	t.assumed = true
}

func (v *view) readCompleted() indexes {
	if v.indexed {
		return parseIndexes(v.Job.Status.CompletedIndexes, v.completions)
	}
	return parseIndexes(v.ledger.Succeeded, v.completions)
}

func (v *view) readFailed() indexes {
	if !v.perIndex {
		return nil
	}
	return parseIndexes(ptr.Deref(v.Job.Status.FailedIndexes, ""), v.completions)
}

// countFailedIndexes adds the indexes that a rule or the limit per index has failed for good. An index that succeeded stays
// so, whatever happens to a second pod of it. Once the Job fails nothing is added, as upstream: the pods that the Job stops
// have not failed by themselves.
func (t *tally) countFailedIndexes(v *view) {
	if v.stage == jobFailing {
		t.failedIndexes = t.storedFailed
		return
	}
	var failed []int
	for _, p := range v.pods {
		if p.held && !v.past(p) && p.decided() && v.valid(p) && v.endsIndex(p) && !t.completed.has(p.slot) {
			failed = append(failed, p.slot)
		}
	}
	t.failedIndexes = t.storedFailed.union(setOf(failed))
}

func (v *view) endsIndex(p *pod) bool {
	if p.means(batchv1.PodFailurePolicyActionFailIndex) {
		return true
	}
	return p.verdict.Counted && annotatedCount(p.Pod, batchv1.JobIndexFailureCountAnnotation) >= int64(*v.Job.Spec.BackoffLimitPerIndex)
}

// findDonors picks, for each index to be retried, the pod with the most failures behind it, and of those the last.
func (t *tally) findDonors(v *view) {
	occupied := t.completed.union(t.failedIndexes, v.slotsOf((*pod).active))
	t.donors = map[int]*pod{}
	for _, p := range v.pods {
		if !p.held || !p.failed || !v.valid(p) || occupied.has(p.slot) {
			continue
		}
		last, found := t.donors[p.slot]
		if !found || precedingFailures(last.Pod) <= precedingFailures(p.Pod) && !p.finish.Before(last.finish) {
			t.donors[p.slot] = p
		}
	}
}

func (v *view) slotsOf(which func(*pod) bool) indexes {
	var slots []int
	for _, p := range v.pods {
		if v.valid(p) && which(p) {
			slots = append(slots, p.slot)
		}
	}
	return setOf(slots)
}

func (t *tally) countFailures(v *view) {
	t.failedPods = v.ledger.recorded()
	donors := 0
	for _, p := range v.pods {
		if v.counts(p) {
			t.failedPods++
			if t.isDonor(p) {
				donors++
			}
		}
	}
	t.shownFailed = t.failedPods - donors
}

// counts reports whether a pod is a failure that the ledger has not counted yet. It counts even if the Job has lost the index
// meanwhile, because what was counted once stays counted.
func (v *view) counts(p *pod) bool {
	return p.held && p.decided() && !p.releasing && (v.valid(p) || p.attempt != none) && p.verdict.Counted
}

func (t *tally) isDonor(p *pod) bool {
	donor, found := t.donors[p.slot]
	return found && donor.UID == p.UID
}

// restarts returns the container restarts in pods that have not ended; with restartPolicy OnFailure they count towards
// backoffLimit.
func (v *view) restarts() int64 {
	sum := int64(0)
	for _, p := range v.pods {
		if p.Status.Phase != corev1.PodRunning && p.Status.Phase != corev1.PodPending {
			continue
		}
		for _, statuses := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
			for _, c := range statuses {
				sum += int64(c.RestartCount)
			}
		}
	}
	return sum
}
