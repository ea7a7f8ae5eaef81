package metrics

import (
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/controller/plan"
)

// The values of the label action say what a look at a Job led to.
const (
	ActionReconciling = "reconciling"
	ActionTracking    = "tracking"
	ActionPodsCreated = "pods_created"
	ActionPodsDeleted = "pods_deleted"
)

// Results, for the labels result and status.
const (
	resultSuccess   = "success"
	resultError     = "error"
	resultSucceeded = "succeeded"
	resultFailed    = "failed"
)

// Synced counts a look at a Job, with all calls that came of it.
func (m *Metrics) Synced(job *batchv1.Job, action string, err error, took time.Duration) {
	result := resultSuccess
	if err != nil {
		result = resultError
	}
	labels := []string{modeLabel(job), result, closed(action, ActionReconciling, ActionTracking, ActionPodsCreated, ActionPodsDeleted)}
	m.syncDuration.WithLabelValues(labels...).Observe(took.Seconds())
	m.syncs.WithLabelValues(labels...).Inc()
}

// Created counts the creation of a pod of the Job that a Plan asked for. As upstream, a pod is a replacement when the Plan has
// seen that pods of the Job failed or are terminating, even if it is not those that it replaces; creations that a terminating
// namespace refuses are no failures. A pod that is there already was counted by who created it.
func (m *Metrics) Created(job *batchv1.Job, p *plan.Plan, err error) {
	if apierrors.IsAlreadyExists(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return
	}
	status := resultSucceeded
	if err != nil {
		status = resultFailed
	}
	m.podsCreated.WithLabelValues(creationReason(job, p), status).Inc()
}

func creationReason(job *batchv1.Job, p *plan.Plan) string {
	switch {
	case p.Failed > 0 && ptr.Deref(job.Spec.PodReplacementPolicy, batchv1.TerminatingOrFailed) == batchv1.Failed:
		return "recreate_failed"
	case p.Failed > 0 || p.Terminating > 0:
		return "recreate_terminating_or_failed"
	}
	return "new"
}

// Written counts what a write of the status has made true: it is given the Job as it was stored before, and as the API
// server returned it. So each pod, index and Job is counted by the process whose write counts it, and once over all
// restarts. Nothing is counted when the answer to the write was lost.
func (m *Metrics) Written(old, stored *batchv1.Job) {
	mode := modeLabel(stored)
	succeeded := stored.Status.Succeeded - old.Status.Succeeded
	if mode == string(batchv1.IndexedCompletion) {
		succeeded = m.indexesWritten(old, stored)
	}
	add(m.podsFinished.WithLabelValues(mode, resultSucceeded), succeeded)
	add(m.podsFinished.WithLabelValues(mode, resultFailed), stored.Status.Failed-old.Status.Failed)
	if end := lastCondition(stored); end != nil && lastCondition(old) == nil {
		result := resultSucceeded
		if end.Type == batchv1.JobFailed {
			result = resultFailed
		}
		m.jobsFinished.WithLabelValues(mode, result, closed(end.Reason,
			batchv1.JobReasonBackoffLimitExceeded, batchv1.JobReasonDeadlineExceeded, batchv1.JobReasonPodFailurePolicy,
			batchv1.JobReasonFailedIndexes, batchv1.JobReasonMaxFailedIndexesExceeded, batchv1.JobReasonSuccessPolicy,
			batchv1.JobReasonCompletionsReached,
		)).Inc()
	}
}

// indexesWritten returns how many more indexes have succeeded. It is not the difference of the numbers of successes: lower
// completions take indexes away, and they have finished nevertheless.
func (m *Metrics) indexesWritten(old, stored *batchv1.Job) int32 {
	completions := int(ptr.Deref(stored.Spec.Completions, 0))
	limit := "global"
	if stored.Spec.BackoffLimitPerIndex != nil {
		limit = "perIndex"
		before, after := ptr.Deref(old.Status.FailedIndexes, ""), ptr.Deref(stored.Status.FailedIndexes, "")
		add(m.indexesFinished.WithLabelValues(resultFailed, limit), indexCount(after, completions)-indexCount(before, completions))
	}
	succeeded := indexCount(stored.Status.CompletedIndexes, completions) - indexCount(old.Status.CompletedIndexes, completions)
	add(m.indexesFinished.WithLabelValues(resultSucceeded, limit), succeeded)
	return succeeded
}

// indexCount returns the number of indexes below completions that a text such as 0,2-4 has. The API server sees to it that they are in
// order; text that cannot be read has no indexes.
func indexCount(text string, completions int) int32 {
	count := 0
	for part := range strings.SplitSeq(text, ",") {
		from, to, ranged := strings.Cut(part, "-")
		if !ranged {
			to = from
		}
		first, firstErr := strconv.Atoi(from)
		last, lastErr := strconv.Atoi(to)
		if firstErr == nil && lastErr == nil && first >= 0 {
			count += max(0, min(last, completions-1)-first+1)
		}
	}
	return int32(min(count, completions)) //nolint:gosec // completions is an int32
}

// lastCondition returns Complete or Failed, or nil while the Job is at work.
func lastCondition(job *batchv1.Job) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		c := &job.Status.Conditions[i]
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

func modeLabel(job *batchv1.Job) string {
	mode := ptr.Deref(job.Spec.CompletionMode, batchv1.NonIndexedCompletion)
	return closed(mode, batchv1.IndexedCompletion, batchv1.NonIndexedCompletion)
}
