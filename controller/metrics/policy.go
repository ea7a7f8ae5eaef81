package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The label mode reports whether the verdict of a custom rule has an effect.
const (
	ModeEnforce = "enforce"
	ModeAudit   = "audit"
)

func (m *Metrics) describePolicies() collectors {
	m.CustomVerdicts = counters(ours, "custom_policy_verdicts_total",
		"Failed Pods that a rule of a PodFailurePolicy decided on (enforce), or would have (audit), which includes those of Jobs that others run. "+
			"The class is the rule's own, or empty. The series of a rule go with it.", "policy", "rule", "class", "action", "mode")
	m.policies = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: ours, Name: "custom_policies", Help: "PodFailurePolicies, by whether their expressions compile.",
	}, []string{"ready"})
	m.bindings = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: ours, Name: "custom_policy_bindings", Help: "PodFailurePolicyBindings, by whether their policy is there and compiles.",
	}, []string{"ready"})
	m.PolicyCompilations = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: ours, Name: "custom_policy_compile_duration_seconds", Help: "The time it took to compile a PodFailurePolicy, by whether it does.",
		Buckets: prometheus.ExponentialBuckets(0.001, 4, 7), // 1 ms to 4 s
	}, []string{"result"})
	return collectors{m.CustomVerdicts, m.policies, m.bindings, m.PolicyCompilations}
}

// PolicyCompiled counts a compilation of a policy.
func (m *Metrics) PolicyCompiled(took time.Duration, err error) {
	result := resultSuccess
	if err != nil {
		result = resultError
	}
	m.PolicyCompilations.WithLabelValues(result).Observe(took.Seconds())
}

// PoliciesRegistered sets the numbers of policies and bindings that are ready and that are not.
func (m *Metrics) PoliciesRegistered(policies, bindings map[bool]int) {
	for _, ready := range []bool{true, false} {
		m.policies.WithLabelValues(strconv.FormatBool(ready)).Set(float64(policies[ready]))
		m.bindings.WithLabelValues(strconv.FormatBool(ready)).Set(float64(bindings[ready]))
	}
}

// ForgetRules removes the series of rules that a policy no longer has.
func (m *Metrics) ForgetRules(policy string, gone []string) {
	for _, rule := range gone {
		for _, counter := range []*prometheus.CounterVec{m.CustomVerdicts, m.livingPods} {
			counter.DeletePartialMatch(prometheus.Labels{"policy": policy, "rule": rule})
		}
	}
}
