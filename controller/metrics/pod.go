package metrics

import (
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
)

// Modes, for the label mode: whose Job the pod is of.
const (
	ModeManage  = "manage"
	ModeObserve = "observe"
)

// PodSeen counts pods made by this controller that got or lost the tracking finalizer as terminated ones. A pod that is new
// has no old state, and one that is gone no new state.
func (m *Metrics) PodSeen(old, pod *corev1.Pod) {
	was, is := trackedAndTerminated(old), trackedAndTerminated(pod)
	switch {
	case is && !was:
		m.trackedTerminated.WithLabelValues("add").Inc()
	case was && !is:
		m.trackedTerminated.WithLabelValues("delete").Inc()
	}
}

func trackedAndTerminated(pod *corev1.Pod) bool {
	return pod != nil && (pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded) &&
		slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) && plan.Made(pod)
}

// Judged counts a verdict. The caller makes sure that it is called once for each pod (package observing).
func (m *Metrics) Judged(mode string, v runtime.Verdict) {
	action := closed(v.Action, batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionFailIndex,
		batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount)
	m.verdicts.WithLabelValues(mode, action, strconv.FormatBool(v.Matched)).Inc()
	if v.Err != nil {
		m.verdictErrors.WithLabelValues(mode).Inc()
	}
	if mode == ModeManage && v.Matched && v.Policy == "" {
		m.handledByPolicy.WithLabelValues(action).Inc()
	}
}

// Results of writing the event of a verdict.
const (
	EventCreated = "created"
	EventFound   = "found"
	EventDropped = "dropped"
)

// VerdictEvent counts the event of a verdict.
func (m *Metrics) VerdictEvent(result string) { m.verdictEvents.WithLabelValues(result).Inc() }

// add adds a difference. Counters do not go back, even if a status does.
func add(c prometheus.Counter, difference int32) { c.Add(float64(max(0, difference))) }
