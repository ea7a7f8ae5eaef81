package evidence

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/runtime"
)

// Effect is the difference that other verdicts would have made.
type Effect struct {
	// Jobs and Indexes count the Jobs and indexes that would have failed at one of their Pods. Lost counts those that actually completed or
	// succeeded.
	Jobs    int64 `json:"jobs"`
	Indexes int64 `json:"indexes"`
	Lost    int64 `json:"lost"`
	// Ignored counts failed attempts that counted, but would not have.
	Ignored int64 `json:"ignored"`
	// Saved counts attempts that would not have begun, and Reserved sums the resources they reserved.
	Saved    int64   `json:"saved"`
	Reserved Amounts `json:"reserved,omitempty"`
	// Changes counts verdicts on failed attempts that would have had another action, by both actions, as in "Count -> Ignore". It includes
	// attempts that would not have begun.
	Changes map[string]int64 `json:"changes,omitempty"`
}

// Merge adds another Effect.
func (e *Effect) Merge(other *Effect) {
	e.Jobs += other.Jobs
	e.Indexes += other.Indexes
	e.Lost += other.Lost
	e.Ignored += other.Ignored
	e.Saved += other.Saved
	e.Reserved.Add(other.Reserved)
	for change, n := range other.Changes {
		addTo(&e.Changes, change, n)
	}
}

// addTo increases a count in a map, and creates the map if necessary.
func addTo[K comparable](counts *map[K]int64, what K, n int64) {
	if *counts == nil {
		*counts = map[K]int64{}
	}
	(*counts)[what] += n
}

// Replay returns the difference that other verdicts on a Job's failed Pods would have made; verdicts are by Pod name. It processes Pods in
// the order in which they ended. After FailJob no attempt begins, and after FailIndex none at that index; running attempts continue. The
// verdict on an attempt that would not have begun has no effect, and neither has an attempt that ended because its Job had ended. Effects
// that the actual verdicts had already are not counted.
func Replay(o *Outcome, verdicts map[string]runtime.Verdict) Effect {
	r := replay{indexes: map[int]time.Time{}}
	for i := range o.Attempts {
		a := &o.Attempts[i]
		v, judged := verdicts[a.Pod]
		judged = judged && a.Failed && !a.Stopped && v.Terminal
		if judged && a.Judged && v.Action != a.Verdict.Action {
			addTo(&r.Changes, string(a.Verdict.Action)+" -> "+string(v.Action), 1)
		}
		if r.skips(a) {
			r.Saved++
			r.Reserved.Add(a.Reserved)
			continue
		}
		if judged {
			r.take(o, a, v)
		}
	}
	return r.Effect
}

type replay struct {
	Effect

	failed  time.Time         // time at which the Job would have failed
	indexes map[int]time.Time // time at which each index would have failed
}

// skips reports whether an attempt would not have begun.
func (r *replay) skips(a *Attempt) bool {
	from := func(end time.Time) bool { return !end.IsZero() && !a.Start.IsZero() && !a.Start.Before(end) }
	return from(r.failed) || from(r.indexes[a.Line])
}

// take applies a verdict on a failed attempt.
func (r *replay) take(o *Outcome, a *Attempt, v runtime.Verdict) {
	differs := v.Action != a.Verdict.Action || !a.Judged
	switch {
	case !differs || !r.failed.IsZero():
	case v.Action == batchv1.PodFailurePolicyActionFailJob:
		r.failed = a.End
		r.Jobs++
		if o.State == Complete {
			r.Lost++
		}
	case v.Action == batchv1.PodFailurePolicyActionFailIndex && r.indexes[a.Line].IsZero():
		r.indexes[a.Line] = a.End
		r.Indexes++
		if a.Recovered {
			r.Lost++
		}
	case v.Action == batchv1.PodFailurePolicyActionIgnore:
		r.Ignored++
	}
}
