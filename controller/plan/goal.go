package plan

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/internal/kube/jobdefaults"
)

// goal is the outcome that the Job is heading for. The interim condition is written first. The terminal condition, with
// the same reason and message, follows when nothing is left to count.
type goal struct {
	interim  batchv1.JobConditionType
	terminal batchv1.JobConditionType
	reason   string
	message  string
}

func failure(reason, message string) *goal {
	return &goal{batchv1.JobFailureTarget, batchv1.JobFailed, reason, message}
}

func deadlineExceeded() *goal {
	return failure(batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
}

func success(reason, message string) *goal {
	return &goal{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete, reason, message}
}

// storedGoal returns the goal stored in the Job's status, which never changes.
func (v *view) storedGoal() *goal {
	switch v.stage {
	case jobSucceeding:
		c := condition(v.Job.Status.Conditions, batchv1.JobSuccessCriteriaMet)
		return success(c.Reason, c.Message)
	case jobFailing:
		c := condition(v.Job.Status.Conditions, batchv1.JobFailureTarget)
		return failure(c.Reason, c.Message)
	default:
		return nil
	}
}

// findGoal looks for a reason to end the Job, in upstream's order. Completions are checked after pods are managed.
func (n *next) findGoal() *goal {
	if stored := n.storedGoal(); stored != nil {
		return stored
	}
	if message := n.failJobMessage(); message != "" {
		return failure(batchv1.JobReasonPodFailurePolicy, message)
	}
	switch {
	case n.pastBackoffLimit():
		return failure(batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")
	case n.pastDeadline():
		return deadlineExceeded()
	case n.pastFailedIndexes():
		return failure(batchv1.JobReasonMaxFailedIndexesExceeded, "Job has exceeded the specified maximal number of failed indexes")
	case n.onlyFailedIndexesLeft():
		return failure(batchv1.JobReasonFailedIndexes, "Job has failed indexes")
	}
	return n.metSuccessPolicy()
}

// failJobMessage returns the message of the first failed pod with a FailJob verdict. Counted pods are included unless the
// rules may have changed since.
func (v *view) failJobMessage() string {
	var failing []*pod
	for _, s := range v.marked {
		if s.state.failing != nil {
			failing = append(failing, s.state.failing)
		}
	}
	if len(failing) == 0 {
		return ""
	}
	return slices.MinFunc(failing, compareFinish).verdict.Message()
}

func (n *next) pastBackoffLimit() bool {
	limit := int64(ptr.Deref(n.Job.Spec.BackoffLimit, jobdefaults.BackoffLimit))
	if int64(n.failedPods) > limit {
		return true
	}
	return n.onFailure() && int64(n.totals.restarts) >= max(limit, 1)
}

// onFailure reports whether containers restart within their pods, which counts towards the limit.
func (v *view) onFailure() bool {
	return v.Job.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure
}

// pastDeadline reports whether the Job has been active for activeDeadlineSeconds. A suspended Job is not active.
func (n *next) pastDeadline() bool {
	if n.Job.Spec.ActiveDeadlineSeconds == nil || n.suspended() || n.status.StartTime == nil {
		return false
	}
	start := n.status.StartTime.Time
	if n.resuming() {
		start = n.Now // time before the suspension does not count
	}
	n.deadline = start.Add(time.Duration(*n.Job.Spec.ActiveDeadlineSeconds) * time.Second)
	left := n.deadline.Sub(n.Now)
	n.again(left)
	return left <= 0
}

func (n *next) pastFailedIndexes() bool {
	limit := n.Job.Spec.MaxFailedIndexes
	return n.perIndex && limit != nil && n.failedIndexes.size() > int(*limit)
}

func (n *next) onlyFailedIndexesLeft() bool {
	failed := n.failedIndexes.size()
	return failed > 0 && failed+n.completed.size() >= n.completions
}

// completionGoal returns the goal of a Job that has reached its completions, once no pods are active. A Job without
// completions needs one success, and an Observation that is Current, because a pod not seen yet may still run.
func (n *next) completionGoal() *goal {
	done := n.succeeded >= n.completions
	if n.Job.Spec.Completions == nil {
		done = n.succeeded > 0
	}
	if !done || n.active-len(n.leaving) > 0 {
		return nil
	}
	if n.Job.Spec.Completions == nil && !n.Current {
		n.plan.NeedsCurrent = true
		return nil
	}
	return success(batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods")
}

// finish moves the Job towards its goal: it sets the interim condition, then ends the active pods, then sets the terminal
// condition.
func (n *next) finish() {
	n.setCondition(n.goal.interim, corev1.ConditionTrue, n.goal.reason, n.goal.message)
	if n.stage != jobFailing && n.stage != jobSucceeding {
		return // pods are taken down once the interim condition is stored
	}
	n.takeDown()
	if n.active > 0 || n.terminating > 0 || n.unstored || n.crowded {
		return
	}
	if !n.Current {
		n.plan.NeedsCurrent = true
		return
	}
	n.end()
}

// takeDown removes the active pods. They count as failed if the Job fails, and are not counted if it succeeds.
func (n *next) takeDown() {
	if n.active == 0 {
		return
	}
	for _, p := range n.all() {
		switch {
		case !p.active():
		case n.stage == jobFailing:
			n.leave(p)
			n.plan.Delete = append(n.plan.Delete, p.Pod)
		default:
			n.dismiss(p)
		}
	}
}

// end sets the terminal condition.
func (n *next) end() {
	n.setCondition(n.goal.terminal, corev1.ConditionTrue, n.goal.reason, n.goal.message)
	if n.status.StartTime == nil && (!n.suspended() || n.completions != 0) {
		n.status.StartTime = n.now() // the API server requires one, but a suspended Job has none
	}
	if n.goal.terminal == batchv1.JobComplete {
		n.status.CompletionTime = n.now()
		if start := n.status.StartTime; start != nil && n.status.CompletionTime.Before(start) {
			n.status.CompletionTime = start // the clocks of two controllers may differ
		}
	}
	n.plan.Events = append(n.plan.Events, n.endEvents()...)
}
