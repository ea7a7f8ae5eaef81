package metrics

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
)

// Results for a living pod that a rule matched.
const (
	LivingEnded   = "ended"
	LivingRemoved = "removed"
	LivingAudited = "audited"
)

// Kinds of errors in handling living pods.
const (
	LivingRule = "rule"
	LivingCall = "call"
)

func (m *Metrics) describeLiving() collectors {
	m.livingPods = counters(ours, "living_pods_total",
		"Pods that live and that a rule matched, by the phase it is about: ended, audited, which is told once, or removed by force after they were ended on a lost node. "+
			"The series of a rule go with it.", "mode", "phase", "policy", "rule", "action", "result")
	m.livingErrors = counters(ours, "living_pod_errors_total",
		"Pods that live for which the rules could not be evaluated (rule, told once), and failures to end one (call).", "mode", "kind")
	return collectors{m.livingPods, m.livingErrors}
}

// LivingPod counts a living pod that an effective rule on its phase matched.
func (m *Metrics) LivingPod(job *batchv1.Job, phase corev1.PodPhase, v runtime.Verdict, result string) {
	m.livingPods.WithLabelValues(modeOf(job), string(phase), v.Policy, v.RuleName, string(v.Action), result).Inc()
}

// LivingError counts an error in handling a living pod.
func (m *Metrics) LivingError(job *batchv1.Job, kind string) {
	m.livingErrors.WithLabelValues(modeOf(job), kind).Inc()
}

func modeOf(job *batchv1.Job) string {
	if plan.Managed(job) {
		return ModeManage
	}
	return ModeObserve
}
