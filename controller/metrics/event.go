package metrics

import "github.com/prometheus/client_golang/prometheus"

func (m *Metrics) describeEvents() collectors {
	m.EventsDropped = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: ours, Name: "events_dropped_total",
		Help: "Events about Jobs and policies that were dropped because too many waited to be told. Those of verdicts are in podverdict_verdict_events_total.",
	})
	return collectors{m.EventsDropped}
}
