package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics count the controller's work. A metric with a counterpart in kube-controller-manager has the same name and labels
// (pkg/controller/job/metrics/metrics.go), so that dashboards and alerts keep working; the other names begin with podverdict_.
//
// All label values come from small fixed sets, or are names of custom policies and their rules. All other values become
// "other", so creating Jobs cannot increase the number of series.
type Metrics struct {
	syncDuration      *prometheus.HistogramVec // completion_mode, result, action
	syncs             *prometheus.CounterVec   // completion_mode, result, action
	jobsFinished      *prometheus.CounterVec   // completion_mode, result, reason
	podsFinished      *prometheus.CounterVec   // completion_mode, result
	podsCreated       *prometheus.CounterVec   // reason, status
	indexesFinished   *prometheus.CounterVec   // status, backoffLimit
	handledByPolicy   *prometheus.CounterVec   // action
	trackedTerminated *prometheus.CounterVec   // event

	verdicts      *prometheus.CounterVec // mode, action, matched
	verdictErrors *prometheus.CounterVec // mode
	verdictEvents *prometheus.CounterVec // result
	livingPods    *prometheus.CounterVec // mode, phase, policy, rule, action, result
	livingErrors  *prometheus.CounterVec // mode, kind
	ProgramHits   prometheus.Counter
	ProgramMisses prometheus.Counter
	CompileErrors prometheus.Counter
	calls         *prometheus.CounterVec // verb, resource, code
	panics        *prometheus.CounterVec // activity
	EventsDropped prometheus.Counter
	// HistoryWritten and HistoryDropped count history lines.
	HistoryWritten, HistoryDropped prometheus.Counter

	CustomVerdicts     *prometheus.CounterVec   // policy, rule, class, action, mode
	policies, bindings *prometheus.GaugeVec     // ready
	PolicyCompilations *prometheus.HistogramVec // result
}

// New returns metrics that are registered with r, all or none. It returns an error if a name is already registered. If r is
// nil, the metrics are not registered.
func New(r prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{}
	all := slices.Concat(m.describeJobs(), m.describeVerdicts(), m.describePolicies(), m.describeLiving(), m.describePanics(), m.describeEvents())
	if r == nil {
		return m, nil
	}
	return m, r.Register(all)
}

// upstream is the subsystem of metrics that kube-controller-manager has too; ours is the namespace of all other metrics.
const upstream, ours = "job_controller", "podverdict"

func (m *Metrics) describeJobs() collectors {
	m.syncDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Subsystem: upstream, Name: "job_sync_duration_seconds", Help: "The time it took to look at a Job and do what was to be done.",
		Buckets: prometheus.ExponentialBuckets(0.004, 2, 15), // as upstream: 4 ms to 65 s
	}, []string{"completion_mode", "result", "action"})
	m.syncs = counters(upstream, "job_syncs_total", "Times that a Job was looked at.", "completion_mode", "result", "action")
	m.jobsFinished = counters(upstream, "jobs_finished_total",
		"Jobs that finished, by the reason of their last condition.", "completion_mode", "result", "reason")
	m.podsFinished = counters(upstream, "job_pods_finished_total",
		"Pods that finished and are counted in the status of their Job.", "completion_mode", "result")
	m.podsCreated = counters(upstream, "job_pods_creation_total",
		"Creations of Pods: new, or recreate_terminating_or_failed and recreate_failed when Pods of the Job have failed, by its podReplacementPolicy.",
		"reason", "status")
	m.indexesFinished = counters(upstream, "job_finished_indexes_total",
		"Indexes that succeeded or failed, by whether the backoffLimit is global or perIndex.", "status", "backoffLimit")
	m.handledByPolicy = counters(upstream, "pod_failures_handled_by_failure_policy_total",
		"Failed Pods of Jobs that this controller runs which a rule of the podFailurePolicy decided on, by the action.", "action")
	m.trackedTerminated = counters(upstream, "terminated_pods_tracking_finalizer_total",
		"Failed or succeeded Pods that got (add) or lost (delete) the finalizer batch.kubernetes.io/job-tracking.", "event")
	return collectors{
		m.syncDuration, m.syncs, m.jobsFinished, m.podsFinished, m.podsCreated, m.indexesFinished, m.handledByPolicy,
		m.trackedTerminated,
	}
}

func (m *Metrics) describeVerdicts() collectors {
	m.verdicts = counters(ours, "verdicts_total",
		"Failed Pods that were judged, of Jobs that this controller runs (manage) or others do (observe), by whether a rule matched.",
		"mode", "action", "matched")
	m.verdictErrors = counters(ours, "verdict_errors_total", "Failed Pods for which the rules could not be evaluated to the end.", "mode")
	m.verdictEvents = counters(ours, "verdict_events_total",
		"Events of verdicts: created, found (told before), or dropped because the API server did not take them.", "result")
	lookups := counters(ours, "program_cache_lookups_total", "Looks for the program of a podFailurePolicy, by whether it was compiled already.", "result")
	m.ProgramHits, m.ProgramMisses = lookups.WithLabelValues("hit"), lookups.WithLabelValues("miss")
	m.CompileErrors = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: ours, Name: "program_compile_errors_total", Help: "podFailurePolicies that do not compile.",
	})
	m.calls = counters(ours, "api_calls_total", "Calls of the API server, by class of the response's code, or error when there was no response.",
		"verb", "resource", "code")
	return collectors{m.verdicts, m.verdictErrors, m.verdictEvents, lookups, m.CompileErrors, m.calls}
}

func counters(prefix, name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: prometheus.BuildFQName(prefix, "", name), Help: help}, labels)
}

// collectors registers several collectors as one.
type collectors []prometheus.Collector

// Describe calls Describe of each collector.
func (c collectors) Describe(descriptions chan<- *prometheus.Desc) {
	for _, collector := range c {
		collector.Describe(descriptions)
	}
}

// Collect calls Collect of each collector.
func (c collectors) Collect(metrics chan<- prometheus.Metric) {
	for _, collector := range c {
		collector.Collect(metrics)
	}
}

// closed returns the value if it is one of those allowed, or "other".
func closed[T ~string](value T, allowed ...T) string {
	if slices.Contains(allowed, value) {
		return string(value)
	}
	return "other"
}
