package generators

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// StatusUpdate returns a random write to the status of a Job, and the stored Job; the caller owns both. A well-typed
// generator changes only the counters of running pods; a hostile one starts from any status and changes anything.
func (g *Jobs) StatusUpdate() (job, old *batchv1.Job) {
	old = g.legalJob()
	g.store(old)
	old.Status = batchv1.JobStatus{}
	if !g.hostile {
		old.Status.StartTime = new(metav1.NewTime(generatedTimes[0]))
		job = old.DeepCopy()
		job.Status.Active = int32(g.draw.rng.IntN(4))
		job.Status.Ready = new(int32(g.draw.rng.IntN(int(job.Status.Active) + 1)))
		return job, old
	}
	for i := range statusFields {
		if g.one(2) {
			statusFields[i](g, &old.Status)
		}
	}
	job = old.DeepCopy()
	if g.one(8) {
		return job, old
	}
	for i := range statusFields {
		if g.draw.rng.IntN(3) == 0 {
			statusFields[i](g, &job.Status)
		}
	}
	if g.one(32) {
		*pick(g.draw, []*string{&job.Name, &job.Namespace, (*string)(&job.UID)}) = "other"
	}
	return job, old
}

var (
	generatedTimes = [...]time.Time{
		time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC),
		time.Date(2026, 1, 2, 4, 4, 5, 0, time.FixedZone("", 3600)), // the first time, in another zone
	}
	generatedJobConditions = [...]batchv1.JobConditionType{
		batchv1.JobComplete, batchv1.JobFailed, batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget, batchv1.JobSuspended, "Custom",
	}
	generatedUIDs = [...]types.UID{"a", "b", "c", "d", "e", "f", "größe", ""}
)

// statusFields set fields of a status to random values.
var statusFields = [...]func(*Jobs, *batchv1.JobStatus){
	func(g *Jobs, s *batchv1.JobStatus) { s.Active = g.counter() },
	func(g *Jobs, s *batchv1.JobStatus) { s.Succeeded = g.counter() },
	func(g *Jobs, s *batchv1.JobStatus) { s.Failed = g.counter() },
	func(g *Jobs, s *batchv1.JobStatus) { s.Ready = g.maybeCounter() },
	func(g *Jobs, s *batchv1.JobStatus) { s.Terminating = g.maybeCounter() },
	func(g *Jobs, s *batchv1.JobStatus) { s.StartTime = g.time() },
	func(g *Jobs, s *batchv1.JobStatus) { s.CompletionTime = g.time() },
	func(g *Jobs, s *batchv1.JobStatus) { s.CompletedIndexes = g.statusIndexes() },
	func(g *Jobs, s *batchv1.JobStatus) {
		s.FailedIndexes = nil
		if !g.one(4) {
			s.FailedIndexes = new(g.statusIndexes())
		}
	},
	func(g *Jobs, s *batchv1.JobStatus) {
		s.UncountedTerminatedPods = nil
		if g.one(2) {
			s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: g.uids(), Failed: g.uids()}
		}
	},
	(*Jobs).jobConditions, (*Jobs).jobConditions, (*Jobs).finish,
}

func (g *Jobs) counter() int32 {
	if g.one(16) {
		return g.negative()
	}
	return int32(g.draw.rng.IntN(4))
}

func (g *Jobs) maybeCounter() *int32 {
	if g.one(4) {
		return nil
	}
	return new(g.counter())
}

func (g *Jobs) time() *metav1.Time {
	if g.one(4) {
		return nil
	}
	return new(metav1.NewTime(pick(g.draw, generatedTimes[:])))
}

func (g *Jobs) statusIndexes() string {
	if g.one(2) {
		return pick(g.draw, generatedIndexes[:]).written
	}
	return g.wrongIndexes(generatedCompletions)
}

func (g *Jobs) uids() []types.UID {
	uids := make([]types.UID, g.draw.rng.IntN(3))
	for i := range uids {
		uids[i] = skewed(g.draw, generatedUIDs[:])
	}
	return uids
}

// jobConditions sets random conditions, sometimes with the same type twice.
func (g *Jobs) jobConditions(s *batchv1.JobStatus) {
	s.Conditions = nil
	for range g.draw.rng.IntN(4) {
		s.Conditions = append(s.Conditions, batchv1.JobCondition{
			Type: pick(g.draw, generatedJobConditions[:]), Status: pick(g.draw, generatedStatuses[:]),
		})
	}
}

// finish ends the Job, mostly as its controller would.
func (g *Jobs) finish(s *batchv1.JobStatus) {
	target, end := batchv1.JobSuccessCriteriaMet, batchv1.JobComplete
	s.CompletionTime = new(metav1.NewTime(generatedTimes[1]))
	if g.one(2) {
		target, end, s.CompletionTime = batchv1.JobFailureTarget, batchv1.JobFailed, nil
	}
	s.Conditions = append(s.Conditions, batchv1.JobCondition{Type: end, Status: corev1.ConditionTrue})
	if !g.one(4) {
		s.Conditions = append(s.Conditions, batchv1.JobCondition{Type: target, Status: corev1.ConditionTrue})
	}
	if !g.one(4) {
		s.StartTime, s.Active, s.Ready, s.Terminating = new(metav1.NewTime(generatedTimes[0])), 0, nil, nil
		s.UncountedTerminatedPods = nil
	}
}
