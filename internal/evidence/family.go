package evidence

import (
	"iter"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/internal/input/gathering"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/snapshot"
)

// cases splits a family into parts with one Outcome each: a Job with its Pods, or a single Pod that names no Job. A Job that Families
// has derived from a model counts as missing from the input.
func cases(f gathering.Family) iter.Seq[gathering.Family] {
	return func(yield func(gathering.Family) bool) {
		if f.Job != nil && (f.Job.Template != "" || f.Job.Object.Name == "" || f.Job.MadeBy != "") {
			f.Job = nil
		}
		if f.Job == nil && len(f.Pods) == 0 {
			return
		}
		if f.Name != "" {
			yield(f)
			return
		}
		for i := range f.Pods {
			alone := f
			alone.More = false
			if alone.Pods = f.Pods[i : i+1]; !yield(alone) {
				return
			}
		}
	}
}

// snapshotOf returns the Snapshot of a Job and its Pods, with or without recorded verdicts. The Job must have the API's defaults.
func snapshotOf(of []manifest.Pod, job *batchv1.Job, rules snapshot.Rules, recorded bool) *snapshot.Snapshot {
	pods := make([]snapshot.Pod, len(of))
	for i, pod := range of {
		pods[i] = snapshot.Pod{Object: pod.Object}
		if recorded {
			pods[i].Recorded = pod.Recorded
		}
	}
	return snapshot.New(job, rules, time.Time{}, snapshot.Missing{}, pods...)
}
