package jobset

import (
	"fmt"
	"regexp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Gates holds the feature gates of JobSet's controller that Decide depends on.
type Gates struct {
	// RestartJob allows the actions that restart a single Job. It is alpha, and off by default.
	RestartJob bool
}

// GatesOf returns the gates that a JobSet needs: JobSet's webhook rejects rules that need disabled gates.
func GatesOf(set *v1alpha2.JobSet) Gates {
	needs := func(r v1alpha2.FailurePolicyRule) bool { return restartsJob(r.Action) }
	return Gates{RestartJob: set.Spec.FailurePolicy != nil && slices.ContainsFunc(set.Spec.FailurePolicy.Rules, needs)}
}

// restartsJob reports whether an action restarts a single Job.
func restartsJob(action v1alpha2.FailurePolicyAction) bool {
	return action == v1alpha2.RestartJob || action == v1alpha2.RestartJobAndIgnoreMaxRestarts
}

// Reasons of a JobSet's condition Failed.
const (
	ReasonFailedJobs         = "FailedJobs"
	ReasonFailJobSet         = "FailJobSetFailurePolicyAction"
	ReasonReachedMaxRestarts = "ReachedMaxRestarts"
)

// A Decision describes the reaction of a JobSet to failed Jobs. If the JobSet neither fails nor restarts, it does not change, and
// Message is the reason.
type Decision struct {
	// Rule is the index of the rule that applies, or -1. RuleName is its name.
	Rule     int
	RuleName string
	// Action is the action performed. It is empty if the JobSet has no failurePolicy.
	Action v1alpha2.FailurePolicyAction
	// Job is the failed Job that the rule matched, or, without a rule, the first Job that failed.
	Job *batchv1.Job
	// Failed reports whether the JobSet fails.
	Failed bool
	// Reason and Message are those of the condition Failed or RestartingJobSet, or, if a single Job restarts, those of the event.
	Reason, Message string
	// Restart is the number of the restart that follows, from 1. Counted reports whether it counts towards maxRestarts: Restart
	// then counts only such restarts, and Max is maxRestarts.
	Restart, Max int32
	Counted      bool
}

// OneJob reports whether the action restarts only the failed Job.
func (d Decision) OneJob() bool { return restartsJob(d.Action) }

// Decide returns the reaction of a JobSet with defaults to its failed Jobs. Jobs without the condition Failed are ignored.
func Decide(set *v1alpha2.JobSet, failed []*batchv1.Job, g Gates) Decision {
	d := Decision{Rule: -1, Job: earliest(failed, nil)}
	policy := set.Spec.FailurePolicy
	switch {
	case d.Job == nil:
		return d
	case policy == nil:
		return d.fail(ReasonFailedJobs, "jobset failed due to one or more job failures")
	}
	d.Action = v1alpha2.RestartJobSet
	for i := range policy.Rules {
		rule := &policy.Rules[i]
		if job := earliest(failed, rule); job != nil {
			d = Decision{Rule: i, RuleName: rule.Name, Action: rule.Action, Job: job}
			break
		}
	}
	return d.act(set, g)
}

// earliest returns the Job that failed first among those that a rule applies to, or among all if the rule is nil.
func earliest(failed []*batchv1.Job, rule *v1alpha2.FailurePolicyRule) (first *batchv1.Job) {
	var since batchv1.JobCondition
	for _, job := range failed {
		condition, ok := failure(job)
		if ok && (rule == nil || applies(rule, job, condition)) &&
			(first == nil || condition.LastTransitionTime.Before(&since.LastTransitionTime)) {
			first, since = job, condition
		}
	}
	return first
}

// failure returns a Job's condition Failed, if it is true.
func failure(job *batchv1.Job) (batchv1.JobCondition, bool) {
	i := slices.IndexFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue
	})
	if i < 0 {
		return batchv1.JobCondition{}, false
	}
	return job.Status.Conditions[i], true
}

// applies reports whether a rule applies to a Job that has failed with a condition. An empty list matches everything, and an
// invalid pattern matches nothing.
func applies(rule *v1alpha2.FailurePolicyRule, job *batchv1.Job, condition batchv1.JobCondition) bool {
	replicatedJob := job.Labels[v1alpha2.ReplicatedJobNameKey]
	return replicatedJob != "" &&
		(len(rule.OnJobFailureReasons) == 0 || slices.Contains(rule.OnJobFailureReasons, condition.Reason)) &&
		(len(rule.TargetReplicatedJobs) == 0 || slices.Contains(rule.TargetReplicatedJobs, replicatedJob)) &&
		(len(rule.OnJobFailureMessagePatterns) == 0 || matchesAny(rule.OnJobFailureMessagePatterns, condition.Message))
}

func matchesAny(patterns []string, message string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		matches, err := regexp.MatchString(pattern, message)
		return err == nil && matches
	})
}

func (d Decision) act(set *v1alpha2.JobSet, g Gates) Decision {
	counts := d.Action == v1alpha2.RestartJob || d.Action == v1alpha2.RestartJobSet
	counted := set.Status.RestartsCountTowardsMax
	if g.RestartJob {
		counted += countedJobRestarts(&set.Status)
	}
	switch {
	case d.Action == v1alpha2.FailJobSet:
		return d.fail(ReasonFailJobSet, "applying FailJobSet failure policy action")
	case !d.OneJob() && d.Action != v1alpha2.RestartJobSet && d.Action != v1alpha2.RestartJobSetAndIgnoreMaxRestarts:
		d.Message = fmt.Sprintf("there is no action %q", d.Action)
		return d
	case d.OneJob() && !g.RestartJob:
		d.Message = fmt.Sprintf("the action %s needs the feature gate RestartJob", d.Action)
		return d
	case counts && counted >= set.Spec.FailurePolicy.MaxRestarts:
		return d.fail(ReasonReachedMaxRestarts, "jobset failed due to reaching max number of restarts")
	}
	d.Restart, d.Counted = set.Status.Restarts+1, counts
	if counts {
		d.Restart, d.Max = counted+1, set.Spec.FailurePolicy.MaxRestarts
	}
	if d.OneJob() {
		return d.restartJob(set)
	}
	d.Reason, d.Message = "DefaultFailurePolicy", d.naming(fmt.Sprintf("applying %s failure policy action", d.Action))
	if d.Rule >= 0 {
		d.Reason = "FailurePolicy_" + d.RuleName
	}
	return d
}

// restartJob restarts only the failed Job.
func (d Decision) restartJob(set *v1alpha2.JobSet) Decision {
	counts := jobCounts(set, d.Job)
	index, err := counts.indexOf(d.Job, d.Counted)
	if err != nil {
		return Decision{Rule: d.Rule, RuleName: d.RuleName, Action: d.Action, Job: d.Job, Message: err.Error()}
	}
	if !d.Counted {
		d.Restart = counts.restarts[index] + 1
	}
	d.Reason = string(d.Action) + "FailurePolicyAction"
	d.Message = d.naming(fmt.Sprintf("applying %s failure policy action", d.Action))
	return d
}

func (d Decision) fail(reason, message string) Decision {
	d.Failed, d.Reason, d.Message = true, reason, d.naming(message)
	return d
}

// naming appends the name of the failed Job to a message, as JobSet's controller does.
func (d Decision) naming(message string) string {
	return fmt.Sprintf("%s (first failed job: %s)", message, d.Job.Name)
}
