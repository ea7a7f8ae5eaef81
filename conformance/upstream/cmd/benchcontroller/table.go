package main

import (
	"fmt"
	"io"
	"slices"
)

const tableHead = `| pods | upstream s | podverdict s | ratio | upstream calls | podverdict calls | podverdict calls a pod | upstream / podverdict events |
|---|---:|---:|---:|---:|---:|---:|---:|
`

// A measure is a row of the table: some phases of a shape's trials, one after the other.
type measure struct {
	name     string // completes the sentence that a number of pods begins
	from, to int    // the phases
	lives    int    // pods for each that may run at a time
}

// A sample is a measure of one trial, or the medians of several.
type sample struct{ seconds, calls, events float64 }

// of returns the measure of a trial. What the controller does after a milestone takes time, too, unless it is the last one.
func (m measure) of(phases []phase) sample {
	var s sample
	for _, p := range phases[m.from:m.to] {
		s.calls += float64(p.calls)
		s.events += float64(p.events)
		s.seconds += p.worked.Seconds()
	}
	last := phases[m.to-1]
	s.seconds += last.reached.Seconds() - last.worked.Seconds()
	return s
}

func (m measure) median(runs [][]phase) sample {
	var seconds, calls, events []float64
	for _, phases := range runs {
		s := m.of(phases)
		seconds, calls, events = append(seconds, s.seconds), append(calls, s.calls), append(events, s.events)
	}
	return sample{median(seconds), median(calls), median(events)}
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// writeRows writes the measures that the trials got to.
func writeRows(out io.Writer, t trial, theirs, ours [][]phase) {
	for _, m := range t.shape.measures {
		if m.to > len(t.phases) {
			continue
		}
		peer, own := m.median(theirs), m.median(ours)
		fmt.Fprintf(out, "| %d %s | %.2f | %.2f | %.2f | %.0f | %.0f | %.2f | %.0f / %.0f |\n", t.pods, m.name,
			peer.seconds, own.seconds, own.seconds/peer.seconds, peer.calls, own.calls, own.calls/float64(t.pods*m.lives), peer.events, own.events)
	}
}
