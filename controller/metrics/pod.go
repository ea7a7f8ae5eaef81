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

// Values of the label mode, which shows whether this controller runs the pod's Job.
const (
	ModeManage  = "manage"
	ModeObserve = "observe"
)

// PodSeen counts this controller's terminated pods as they get or lose the tracking finalizer. Old is nil for a new
// pod, and pod is nil for a deleted one.
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

// Judged counts a verdict. The caller makes sure that each pod is counted once (package observing).
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

// Results of writing the event for a verdict.
const (
	EventCreated = "created"
	EventFound   = "found"
	EventDropped = "dropped"
)

// VerdictEvent counts the event for a verdict.
func (m *Metrics) VerdictEvent(result string) { m.verdictEvents.WithLabelValues(result).Inc() }

// add adds a difference unless it is negative: counters never decrease, even if a status does.
func add(c prometheus.Counter, difference int32) { c.Add(float64(max(0, difference))) }
