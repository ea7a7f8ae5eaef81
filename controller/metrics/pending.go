package metrics

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
)

// Results for a pod that a rule on Pending matched.
const (
	PendingDeleted = "deleted"
	PendingAudited = "audited"
)

// Kinds of errors in handling pods that do not start.
const (
	PendingRule = "rule"
	PendingCall = "call"
)

func (m *Metrics) describePending() collectors {
	m.pendingPods = counters(ours, "pending_pods_total",
		"Pods in phase Pending that a rule matched, by its action: deleted, or audited, which is told once.", "mode", "action", "result")
	m.pendingErrors = counters(ours, "pending_pod_errors_total",
		"Pods in phase Pending for which the rules could not be evaluated (rule, told once), and failures to delete one (call).", "mode", "kind")
	return collectors{m.pendingPods, m.pendingErrors}
}

// PendingPod counts a pod that a rule on Pending matched.
func (m *Metrics) PendingPod(job *batchv1.Job, v runtime.Verdict, result string) {
	action := closed(v.Action, batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionFailIndex,
		batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount)
	m.pendingPods.WithLabelValues(modeOf(job), action, result).Inc()
}

// PendingError counts an error in handling a pod that does not start.
func (m *Metrics) PendingError(job *batchv1.Job, kind string) {
	m.pendingErrors.WithLabelValues(modeOf(job), kind).Inc()
}

func modeOf(job *batchv1.Job) string {
	if plan.Managed(job) {
		return ModeManage
	}
	return ModeObserve
}
