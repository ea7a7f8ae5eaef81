package memoryapi

import (
	"math"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// statusErrors returns the API server's errors for a write to the status (pkg/apis/batch/validation,
// ValidateJobStatusUpdate). Rules about unchanged fields are not applied, so a status that breaks one can still be
// written.
func statusErrors(old, job *batchv1.Job) field.ErrorList {
	w := &statusWrite{old: old, job: job, before: &old.Status, after: &job.Status, path: field.NewPath("status")}
	w.counters()
	w.uncounted()
	w.conditions()
	w.newConditions()
	w.finished()
	w.times()
	w.indexes()
	return w.errors
}

type statusWrite struct {
	old, job      *batchv1.Job
	before, after *batchv1.JobStatus
	path          *field.Path
	errors        field.ErrorList
}

func (w *statusWrite) refuse(broken bool, name, message string) {
	if broken {
		w.errors = append(w.errors, field.Invalid(w.path.Child(name), "", message))
	}
}

// has reports whether a condition is true.
func has(s *batchv1.JobStatus, kind batchv1.JobConditionType) bool {
	for _, c := range s.Conditions {
		if c.Type == kind && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

func (w *statusWrite) has(kind batchv1.JobConditionType) bool { return has(w.after, kind) }

func (w *statusWrite) changed(kinds ...batchv1.JobConditionType) bool {
	for _, kind := range kinds {
		if has(w.before, kind) != has(w.after, kind) {
			return true
		}
	}
	return false
}

func (w *statusWrite) counters() {
	s := w.after
	counters := map[string]int32{
		"active": s.Active, "succeeded": s.Succeeded, "failed": s.Failed, "ready": ptr.Deref(s.Ready, 0), "terminating": ptr.Deref(s.Terminating, 0),
	}
	for name, count := range counters {
		w.refuse(count < 0, name, "must be greater than or equal to 0")
	}
	w.refuse(s.Failed < w.before.Failed, "failed", "cannot decrease the failed counter")
	spec := w.job.Spec
	elastic := isIndexed(w.job) && spec.Completions != nil && *spec.Completions == ptr.Deref(spec.Parallelism, 0)
	w.refuse(s.Succeeded < w.before.Succeeded && !elastic, "succeeded", "cannot decrease the succeeded counter")
	readied := s.Active != w.before.Active || !equality.Semantic.DeepEqual(s.Ready, w.before.Ready)
	w.refuse(readied && ptr.Deref(s.Ready, 0) > s.Active, "ready", "cannot set more ready pods than active")
}

func isIndexed(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.CompletionMode, "") == batchv1.IndexedCompletion
}

func (w *statusWrite) uncounted() {
	pods := w.after.UncountedTerminatedPods
	if pods == nil {
		return
	}
	seen := map[types.UID]bool{}
	for _, uids := range [][]types.UID{pods.Succeeded, pods.Failed} {
		for _, uid := range uids {
			w.refuse(uid == "", "uncountedTerminatedPods", "must not be empty")
			w.refuse(seen[uid], "uncountedTerminatedPods", "duplicate")
			seen[uid] = true
		}
	}
}

// conditions checks the rules that apply to every write.
func (w *statusWrite) conditions() {
	met, complete := w.has(batchv1.JobSuccessCriteriaMet), w.has(batchv1.JobComplete)
	metBefore := has(w.before, batchv1.JobSuccessCriteriaMet)
	w.refuse(met && w.has(batchv1.JobFailed), "conditions", "cannot set SuccessCriteriaMet=True and Failed=true conditions")
	w.refuse(met && w.has(batchv1.JobFailureTarget), "conditions", "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
	w.refuse(w.job.Spec.SuccessPolicy != nil && complete && !met, "conditions", "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")
	w.refuse(metBefore && !met, "conditions", "cannot disable the SuccessCriteriaMet=True condition")
	w.refuse(has(w.before, batchv1.JobComplete) && !metBefore && met, "conditions", "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions")
	for _, kind := range []batchv1.JobConditionType{batchv1.JobFailed, batchv1.JobComplete, batchv1.JobFailureTarget} {
		w.refuse(has(w.before, kind) && !w.has(kind), "conditions", "cannot disable the terminal "+string(kind)+"=True condition")
	}
}

// newConditions checks the rules about changed conditions.
func (w *statusWrite) newConditions() {
	met, complete := w.has(batchv1.JobSuccessCriteriaMet), w.has(batchv1.JobComplete)
	failed, target := w.has(batchv1.JobFailed), w.has(batchv1.JobFailureTarget)
	w.refuse(w.changed(batchv1.JobComplete, batchv1.JobFailed) && complete && failed, "conditions", "cannot set Complete=True and Failed=true conditions")
	w.refuse(w.changed(batchv1.JobComplete, batchv1.JobFailureTarget) && complete && target, "conditions", "cannot set Complete=True and FailureTarget=true conditions")
	failedAgain := w.changed(batchv1.JobFailed) || !equality.Semantic.DeepEqual(w.before.FailedIndexes, w.after.FailedIndexes)
	w.refuse(failedAgain && failed && !target, "conditions", "cannot set Failed=True condition without the FailureTarget=true condition")
	w.refuse(w.changed(batchv1.JobComplete, batchv1.JobSuccessCriteriaMet) && complete && !met, "conditions",
		"cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
}

// finished checks the rules about finished Jobs.
func (w *statusWrite) finished() {
	finished := func(s *batchv1.JobStatus) bool { return has(s, batchv1.JobComplete) || has(s, batchv1.JobFailed) }
	if !finished(w.after) {
		return
	}
	now, before, after := !finished(w.before), w.before, w.after
	w.refuse((now || after.Active != before.Active) && after.Active > 0, "active", "active>0 is invalid for finished job")
	unstarted := ptr.Deref(w.job.Spec.Suspend, false) && ptr.Deref(w.job.Spec.Completions, -1) == 0
	w.refuse((now || !after.StartTime.Equal(before.StartTime)) && !unstarted && after.StartTime == nil, "startTime", "startTime is required for finished job")
	u := after.UncountedTerminatedPods
	counting := now || !equality.Semantic.DeepEqual(before.UncountedTerminatedPods, u)
	w.refuse(counting && u != nil && len(u.Succeeded)+len(u.Failed) > 0, "uncountedTerminatedPods", "must be empty for finished job")
	ending := now || !equality.Semantic.DeepEqual(before.Terminating, after.Terminating)
	w.refuse(ending && ptr.Deref(after.Terminating, 0) > 0, "terminating", "terminating>0 is invalid for finished job")
}

func (w *statusWrite) times() {
	before, after := w.before, w.after
	complete := w.has(batchv1.JobComplete)
	completed := !after.CompletionTime.Equal(before.CompletionTime)
	started := !after.StartTime.Equal(before.StartTime)
	w.refuse(completed && before.CompletionTime != nil && after.CompletionTime != nil, "completionTime", "field is immutable")
	if w.changed(batchv1.JobComplete) || completed {
		w.refuse(after.CompletionTime != nil && !complete, "completionTime", "cannot set completionTime when there is no Complete=True condition")
		w.refuse(after.CompletionTime == nil && complete, "completionTime", "completionTime is required for Complete jobs")
	}
	w.refuse((started || completed) && after.CompletionTime != nil && after.StartTime != nil && after.CompletionTime.Before(after.StartTime),
		"completionTime", "must be equal to or after `startTime`")
	resumed := has(before, batchv1.JobSuspended) && slices.ContainsFunc(after.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobSuspended && c.Status == corev1.ConditionFalse
	})
	w.refuse(started && !resumed && before.StartTime != nil && !ptr.Deref(w.job.Spec.Suspend, false), "startTime",
		"field is immutable for unsuspended job once set")
}

func (w *statusWrite) indexes() {
	before, after, spec := w.before, w.after, w.job.Spec
	completed := before.CompletedIndexes != after.CompletedIndexes
	failed := !equality.Semantic.DeepEqual(before.FailedIndexes, after.FailedIndexes)
	failedIndexes := ptr.Deref(after.FailedIndexes, "")
	if completed {
		w.refuse(after.CompletedIndexes != "" && !isIndexed(w.job), "completedIndexes", "cannot set non-empty completedIndexes when non-indexed completion mode")
		w.format("completedIndexes", after.CompletedIndexes, spec.Completions != nil)
	}
	if failed {
		w.refuse(after.FailedIndexes != nil && spec.BackoffLimitPerIndex == nil, "failedIndexes", "cannot set non-null failedIndexes when backoffLimitPerIndex is null")
		w.format("failedIndexes", failedIndexes, spec.Completions != nil && spec.BackoffLimitPerIndex != nil)
	}
	if completed || failed {
		done, doneOK := intervals(after.CompletedIndexes, math.MaxInt32)
		lost, lostOK := intervals(failedIndexes, math.MaxInt32)
		w.refuse(doneOK && lostOK && overlap(done, lost), "failedIndexes", "failedIndexes and completedIndexes overlap")
	}
}

func (w *statusWrite) format(name, text string, applies bool) {
	if applies {
		_, ok := intervals(text, int(*w.job.Spec.Completions))
		w.refuse(!ok, name, "error parsing "+name+": "+text)
	}
}

// intervals parses text such as 0-3,7. It reports false unless the numbers are in order and below the limit.
func intervals(text string, limit int) ([][2]int, bool) {
	var all [][2]int
	last := -1
	for part := range strings.SplitSeq(text, ",") {
		if text == "" {
			return nil, true
		}
		from, to, ranged := strings.Cut(part, "-")
		if !ranged {
			to = from
		}
		first, fromErr := strconv.Atoi(from)
		end, toErr := strconv.Atoi(to)
		if fromErr != nil || toErr != nil || first <= last || end < first || ranged && end == first || end >= limit {
			return nil, false
		}
		last = end
		all = append(all, [2]int{first, end})
	}
	return all, true
}

func overlap(a, b [][2]int) bool {
	for _, x := range a {
		for _, y := range b {
			if x[0] <= y[1] && y[0] <= x[1] {
				return true
			}
		}
	}
	return false
}
