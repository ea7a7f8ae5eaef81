package fault

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/controller"
)

// trial is a Job whose outcome follows from the fates of its pods: whatever happens to the controller, it is the same.
type trial struct {
	name    string
	slots   int
	indexed bool
	// limit is that of each index, or -1.
	limit int
	// failures is how many attempts at each slot fail before one succeeds.
	failures []int
	// parallelism is how many pods may be active.
	parallelism int
	policy      bool
}

// codeIgnored is an exit code that the policy of a trial ignores.
const codeIgnored = 3

// exitCode is the fate of an attempt.
func (r trial) exitCode(slot, attempt int) int32 {
	switch {
	case slot >= len(r.failures) || attempt >= r.failures[slot]:
		return 0
	case r.policy && slot == 0:
		return codeIgnored
	default:
		return 1
	}
}

func (r trial) job() *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: r.name}, Spec: batchv1.JobSpec{
		Completions:  new(int32(r.slots)),
		Parallelism:  new(int32(r.parallelism)),
		BackoffLimit: new(int32(100)),
		ManagedBy:    new(controller.Name),
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "main", Image: "main"}},
		}},
	}}
	if r.indexed {
		job.Spec.CompletionMode = new(batchv1.IndexedCompletion)
	}
	if r.limit >= 0 {
		job.Spec.BackoffLimitPerIndex = new(int32(r.limit))
	}
	if r.policy {
		job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action: batchv1.PodFailurePolicyActionIgnore,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{codeIgnored},
			},
		}}}
	}
	return job
}

// outcome is what a Job comes to.
type outcome struct {
	Condition batchv1.JobConditionType
	Succeeded int
	Failed    int
	Completed string
	Lost      string
	Pods      int
}

// want is the outcome that follows from the fates.
func (r trial) want() outcome {
	var o outcome
	var completed, lost []string
	for slot, failures := range r.failures {
		ignored := r.policy && slot == 0
		counted := failures
		if !ignored && r.limit >= 0 && failures > r.limit {
			counted = r.limit + 1
			lost = append(lost, strconv.Itoa(slot))
			o.Pods += counted
		} else {
			o.Succeeded++
			o.Pods += failures + 1
			completed = append(completed, strconv.Itoa(slot))
		}
		if !ignored {
			o.Failed += counted
		}
	}
	o.Condition = batchv1.JobComplete
	if len(lost) > 0 {
		o.Condition = batchv1.JobFailed
	}
	if r.indexed {
		o.Completed, o.Lost = strings.Join(completed, ","), strings.Join(lost, ",")
	}
	return o
}

// outcomeOf is that of a Job which has ended, with as many pods created for it.
func outcomeOf(job *batchv1.Job, created int) outcome {
	o := outcome{Succeeded: int(job.Status.Succeeded), Failed: int(job.Status.Failed), Completed: spelledOut(job.Status.CompletedIndexes), Pods: created}
	if job.Status.FailedIndexes != nil {
		o.Lost = spelledOut(*job.Status.FailedIndexes)
	}
	if i := slices.IndexFunc(job.Status.Conditions, isEnd); i >= 0 {
		o.Condition = job.Status.Conditions[i].Type
	}
	return o
}

func isEnd(c batchv1.JobCondition) bool {
	return c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed)
}

func ended(job *batchv1.Job) bool { return slices.ContainsFunc(job.Status.Conditions, isEnd) }

// spelledOut is 0,1,2 for 0-2.
func spelledOut(indexes string) string {
	var all []string
	for part := range strings.SplitSeq(indexes, ",") {
		from, to, ranged := strings.Cut(part, "-")
		if !ranged {
			to = from
		}
		first, _ := strconv.Atoi(from) // the API server has checked it
		last, err := strconv.Atoi(to)
		for i := first; err == nil && i <= last; i++ {
			all = append(all, strconv.Itoa(i))
		}
	}
	return strings.Join(all, ",")
}

// randomTrial is any trial with a few pods.
func randomTrial(random *rand.Rand, name string) trial {
	r := trial{name: name, slots: 1 + random.IntN(4), limit: -1, parallelism: 1 + random.IntN(3), policy: random.IntN(3) == 0}
	r.indexed = random.IntN(3) > 0
	if r.indexed && random.IntN(2) == 0 {
		r.limit = random.IntN(2)
	}
	for range r.slots {
		r.failures = append(r.failures, random.IntN(3))
	}
	return r
}

// slotAndAttempt are in the name of a pod that the controller has made: JOB-SLOT-ATTEMPT-TAG.
func slotAndAttempt(name string) (slot, attempt int, made bool) {
	parts := strings.Split(name, "-")
	if len(parts) < 4 {
		return 0, 0, false
	}
	slot, slotErr := strconv.Atoi(parts[len(parts)-3])
	attempt, attemptErr := strconv.Atoi(parts[len(parts)-2])
	return slot, attempt, slotErr == nil && attemptErr == nil
}
