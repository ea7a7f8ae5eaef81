package simulation

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

// lived returns the result of a simulation that is checked after every step.
func lived(t *testing.T, o Options) *Result {
	t.Helper()
	s, err := newSimulator(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	w := watcher{t: t}
	s.inspect = w.look
	r, err := s.run()
	if err != nil {
		t.Fatal(err)
	}
	w.conclude(r)
	return r
}

// watcher checks invariants.
type watcher struct {
	t    *testing.T
	last batchv1.JobStatus
}

func (w *watcher) look(s *simulator) {
	w.t.Helper()
	if len(s.lives) != len(s.byName) {
		w.t.Errorf("%s: %d pods live, %d have names", Clock(s.now), len(s.lives), len(s.byName))
	}
	status := s.job.Status
	active, living := map[int]int{}, map[int]int{}
	total := 0
	for _, l := range s.lives {
		if l.stage != ended {
			living[l.slot]++
		}
		if l.stage != ended && l.pod.DeletionTimestamp == nil {
			active[l.slot]++
			total++
		}
	}
	for slot, pods := range active {
		if pods > 1 {
			w.t.Errorf("%s: index %d has %d active pods", Clock(s.now), slot, pods)
		}
	}
	for slot, pods := range living {
		if pods > 1 && *s.job.Spec.PodReplacementPolicy == batchv1.Failed {
			w.t.Errorf("%s: index %d has %d pods, though a pod is replaced when it has failed", Clock(s.now), slot, pods)
		}
	}
	mayFinish := s.job.Spec.Completions == nil && status.Succeeded > 0 // of a work queue, whatever runs
	if limit := int(*s.job.Spec.Parallelism); total > limit && !mayFinish {
		w.t.Errorf("%s: %d pods are active, parallelism is %d", Clock(s.now), total, limit)
	}
	if int(status.Active) != total {
		w.t.Errorf("%s: status.active is %d, and %d pods are", Clock(s.now), status.Active, total)
	}
	if status.Failed < w.last.Failed || status.Succeeded < w.last.Succeeded {
		w.t.Errorf("%s: counters went back from %v to %v", Clock(s.now), w.last, status)
	}
	if ptr.Deref(status.Ready, 0) > status.Active {
		w.t.Errorf("%s: more pods are ready than active: %v", Clock(s.now), status)
	}
	w.last = *status.DeepCopy()
}

// conclude compares the counters with the verdicts.
func (w *watcher) conclude(r *Result) {
	w.t.Helper()
	counted := 0
	for action, pods := range r.Summary.Verdicts {
		if action != string(batchv1.PodFailurePolicyActionIgnore) {
			counted += pods
		}
	}
	ended, late := 0, 0 // late pods counted as failed when they were deleted, but then exited with 0
	deleted := map[string]bool{}
	for _, e := range r.Events {
		switch e.Type {
		case PodDeleted, PodEvicted:
			deleted[e.Pod] = true
		case PodSucceeded:
			ended++
			if deleted[e.Pod] {
				late++
			}
		case PodFailed, PodStopped:
			ended++
		default:
		}
	}
	if failed := int(r.Status.Failed); r.Outcome != Unfinished && (failed < counted || failed > counted+late) {
		w.t.Errorf("status.failed is %d, %d verdicts count, and %d pods succeeded after their deletion", failed, counted, late)
	}
	sum := r.Summary
	if ended != sum.Succeeded+sum.Stopped+total(sum.Verdicts) {
		w.t.Errorf("%d pods have ended, the summary is %+v", ended, sum)
	}
	if sum.WastedSeconds < 0 || sum.WastedSeconds > sum.PodSeconds || sum.PodSeconds > r.Seconds*int64(sum.Pods) {
		w.t.Errorf("the times of pods do not add up after %s: %+v", Clock(r.Seconds), sum)
	}
	for i := 1; i < len(r.Events); i++ {
		if r.Events[i].Seconds < r.Events[i-1].Seconds {
			w.t.Errorf("events are out of order: %+v after %+v", r.Events[i], r.Events[i-1])
		}
	}
}

func total(counts map[string]int) int {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return sum
}
