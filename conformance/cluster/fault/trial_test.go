//go:build cluster

package fault

import (
	"cmp"
	"math/rand/v2"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// trial is a Job whose end follows from the fates of its pods, whatever happens to the controller.
type trial struct {
	name string
	// slots is the number of slots. A queue has no completions, and one slot for each pod that may be active.
	slots   int
	queue   bool
	indexed bool
	// limit is the backoffLimitPerIndex, or -1.
	limit int
	// backoff is the number of pods that may fail; 0 means unlimited.
	backoff int
	// failures is the number of failed attempts at each slot before one succeeds.
	failures []int
	// parallelism is the maximum number of active pods.
	parallelism int
	// code is the exit code of the failures at slot 0, for which the Job has a rule; 0 for none.
	code int32
	// endless pods run until the deadline of their Job.
	endless bool
}

// Exit codes with a rule.
const (
	codeIgnored   int32 = 3
	codeFailIndex int32 = 7
	codeFailJob   int32 = 42
)

// never is the exit code of a pod that does not end.
const never int32 = -1

// exitCode returns the fate of an attempt.
func (r trial) exitCode(slot, attempt int) int32 {
	switch {
	case r.endless:
		return never
	case slot >= len(r.failures) || attempt >= r.failures[slot]:
		return 0
	case r.code != 0 && slot == 0:
		return r.code
	default:
		return 1
	}
}

func (r trial) backoffLimit() int { return cmp.Or(r.backoff, 100) }

func (r trial) job() *batchv1.Job {
	job := testcluster.ManagedJob(r.name, func(s *batchv1.JobSpec) {
		s.Completions, s.Parallelism, s.BackoffLimit = new(int32(r.slots)), new(int32(r.parallelism)), new(int32(r.backoffLimit()))
	})
	if r.queue {
		job.Spec.Completions = nil
	}
	if r.indexed {
		job.Spec.CompletionMode = new(batchv1.IndexedCompletion)
	}
	if r.limit >= 0 {
		job.Spec.BackoffLimitPerIndex = new(int32(r.limit))
	}
	if r.endless {
		job.Spec.ActiveDeadlineSeconds = new(int64(3))
	}
	if r.code != 0 {
		job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{testcluster.OnExitCodes(actions[r.code], r.code)}}
	}
	return job
}

var actions = map[int32]batchv1.PodFailurePolicyAction{
	codeIgnored:   batchv1.PodFailurePolicyActionIgnore,
	codeFailIndex: batchv1.PodFailurePolicyActionFailIndex,
	codeFailJob:   batchv1.PodFailurePolicyActionFailJob,
}

// outcome is the end of a Job.
type outcome struct {
	Condition batchv1.JobConditionType
	Reason    string
	Succeeded int
	Failed    int
	Completed string
	Lost      string
	Pods      int
}

// early returns the outcome of a Job that ends when some of its pods may be active or not created yet, so that its
// counters depend on timing.
func (r trial) early() (o outcome, early bool) {
	total := 0
	for _, failures := range r.failures {
		total += failures
	}
	switch {
	case r.endless:
		return outcome{Condition: batchv1.JobFailed, Reason: batchv1.JobReasonDeadlineExceeded}, true
	case r.code == codeFailJob && r.failures[0] > 0:
		return outcome{Condition: batchv1.JobFailed, Reason: batchv1.JobReasonPodFailurePolicy}, true
	case total > r.backoffLimit():
		return outcome{Condition: batchv1.JobFailed, Reason: batchv1.JobReasonBackoffLimitExceeded}, true
	case r.queue:
		return outcome{Condition: batchv1.JobComplete, Reason: batchv1.JobReasonCompletionsReached}, true
	}
	return outcome{}, false
}

// want returns the outcome that follows from the fates.
func (r trial) want() outcome {
	if o, early := r.early(); early {
		return o
	}
	var o outcome
	var completed, lost []string
	for slot, failures := range r.failures {
		counted, isLost := r.count(slot)
		if isLost {
			lost = append(lost, strconv.Itoa(slot))
			o.Pods += counted
		} else {
			o.Succeeded++
			o.Pods += failures + 1
			completed = append(completed, strconv.Itoa(slot))
		}
		o.Failed += counted
	}
	o.Condition, o.Reason = batchv1.JobComplete, batchv1.JobReasonCompletionsReached
	if len(lost) > 0 {
		o.Condition, o.Reason = batchv1.JobFailed, batchv1.JobReasonFailedIndexes
	}
	if r.indexed {
		o.Completed, o.Lost = strings.Join(completed, ","), strings.Join(lost, ",")
	}
	return o
}

// count returns the number of failures at a slot that count, and whether they fail the slot for good.
func (r trial) count(slot int) (counted int, lost bool) {
	failures := r.failures[slot]
	switch {
	case slot == 0 && r.code == codeIgnored:
		return 0, false
	case slot == 0 && r.code == codeFailIndex && failures > 0:
		return 1, true
	case r.limit >= 0 && failures > r.limit:
		return r.limit + 1, true
	}
	return failures, false
}

// outcomeOf returns the outcome of a Job that has ended, given the number of pods that were created.
func (r trial) outcomeOf(job *batchv1.Job, created int) outcome {
	var o outcome
	if end := testcluster.Finished(job); end != nil {
		o.Condition, o.Reason = end.Type, end.Reason
	}
	if _, early := r.early(); early {
		return o
	}
	o.Succeeded, o.Failed, o.Pods = int(job.Status.Succeeded), int(job.Status.Failed), created
	o.Completed = spelledOut(job.Status.CompletedIndexes)
	if job.Status.FailedIndexes != nil {
		o.Lost = spelledOut(*job.Status.FailedIndexes)
	}
	return o
}

func ended(job *batchv1.Job) bool { return testcluster.Finished(job) != nil }

// spelledOut returns 0,1,2 for 0-2.
func spelledOut(indexes string) string {
	var all []string
	for part := range strings.SplitSeq(indexes, ",") {
		from, to, ranged := strings.Cut(part, "-")
		if !ranged {
			to = from
		}
		first, _ := strconv.Atoi(from) // the API server has validated it
		last, err := strconv.Atoi(to)
		for i := first; err == nil && i <= last; i++ {
			all = append(all, strconv.Itoa(i))
		}
	}
	return strings.Join(all, ",")
}

// randomTrial returns a random trial with a few slots that ends when all of its pods have.
func randomTrial(random *rand.Rand, name string, slots int) trial {
	r := trial{name: name, slots: 1 + random.IntN(slots), limit: -1, parallelism: 1 + random.IntN(3)}
	if random.IntN(3) == 0 {
		r.code = codeIgnored
	}
	r.indexed = random.IntN(3) > 0
	if r.indexed && random.IntN(2) == 0 {
		r.limit = random.IntN(2)
	}
	for range r.slots {
		r.failures = append(r.failures, random.IntN(3))
	}
	return r
}

// anyTrial returns a random trial, or one that ends early or by a rule.
func anyTrial(random *rand.Rand, name string, slots int) trial {
	r := randomTrial(random, name, slots)
	switch kind := random.IntN(10); {
	case kind < 5: // unchanged
	case kind == 5: // slot 0 fails, and the index or the Job with it
		r.indexed, r.limit, r.code, r.failures[0] = true, 1, codeFailIndex, 1
	case kind == 6:
		r.code, r.failures[0] = codeFailJob, 1+random.IntN(2)
	case kind == 7:
		r.code, r.limit, r.backoff, r.failures[0] = 0, -1, 1+random.IntN(2), 4
	case kind == 8:
		r.code, r.limit, r.indexed, r.queue, r.parallelism = 0, -1, false, true, r.slots
	default:
		r.endless = true
	}
	return r
}
