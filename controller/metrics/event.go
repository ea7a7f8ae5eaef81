package metrics

import "github.com/prometheus/client_golang/prometheus"

func (m *Metrics) describeEvents() collectors {
	m.EventsDropped = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: ours, Name: "events_dropped_total",
		Help: "Events about Jobs and policies that were dropped because too many waited to be told. Those of verdicts are in podverdict_verdict_events_total.",
	})
	lines := counters(ours, "history_lines_total", "Lines of history: written, or dropped because the disk did not take them.", "result")
	m.HistoryWritten, m.HistoryDropped = lines.WithLabelValues("written"), lines.WithLabelValues("dropped")
	return collectors{m.EventsDropped, lines}
}
