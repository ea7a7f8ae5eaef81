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

// Values of the label action, which is the action of a Job's sync.
const (
	ActionReconciling = "reconciling"
	ActionTracking    = "tracking"
	ActionPodsCreated = "pods_created"
	ActionPodsDeleted = "pods_deleted"
)

// Values of the labels result and status.
const (
	resultSuccess   = "success"
	resultError     = "error"
	resultSucceeded = "succeeded"
	resultFailed    = "failed"
)

// Synced counts the sync of a Job, including all calls that it made.
func (m *Metrics) Synced(job *batchv1.Job, action string, err error, took time.Duration) {
	result := resultSuccess
	if err != nil {
		result = resultError
	}
	labels := []string{modeLabel(job), result, closed(action, ActionReconciling, ActionTracking, ActionPodsCreated, ActionPodsDeleted)}
	m.syncDuration.WithLabelValues(labels...).Observe(took.Seconds())
	m.syncs.WithLabelValues(labels...).Inc()
}

// Created counts the creation of a pod. As upstream, a pod counts as a replacement if the Plan saw failed or terminating pods
// of the Job, whether or not it replaces these. A creation rejected because the namespace is terminating is not counted. A pod
// that exists already was counted when it was created.
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

// Written counts the pods, indexes and Jobs that a status write recorded as finished, by comparing the Job stored before with
// the one that the API server returned. Each is counted once, by the process whose write recorded it, even across restarts. If
// the response to the write was lost, nothing is counted.
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

// indexesWritten returns the number of indexes that newly succeeded. It does not subtract the counts of successes, because
// reduced completions remove indexes that have finished nevertheless.
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

// indexCount returns the number of indexes below completions in a text such as 0,2-4. The API server keeps them in order.
// Invalid text contains none.
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

// lastCondition returns the condition Complete or Failed, or nil if the Job is unfinished.
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
