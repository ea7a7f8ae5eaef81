package main

import (
	"fmt"
	"io"
	"slices"
)

const tableHead = "| pods | upstream s | podverdict s | ratio | upstream calls | podverdict calls | podverdict calls an end | upstream / podverdict events " +
	"| upstream CPU ms an end | podverdict CPU ms an end | ratio | upstream / podverdict heap MiB | upstream / podverdict resident MiB |\n" +
	"|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"

// A measure is a row of the table: consecutive phases of a shape's trials.
type measure struct {
	name     string // completes a sentence that begins with a number of pods
	from, to int    // the phases
}

// A sample has the figures of one trial, or the medians of several.
type sample [resident + 1]float64

// The figures of a sample. Memory is in MiB, after the last phase.
const (
	seconds = iota
	calls
	events
	ends
	cpu
	heap
	resident
)

// of returns the figures of a trial. The time of work after a milestone is included, unless it is the last one.
func (m measure) of(phases []phase) (s sample) {
	for _, p := range phases[m.from:m.to] {
		s[calls] += float64(p.used.Calls)
		s[events] += float64(p.used.Events)
		s[seconds] += p.worked.Seconds()
		s[ends] += float64(p.ends)
		s[cpu] += p.used.CPU.Seconds()
	}
	last := phases[m.to-1]
	s[seconds] += last.reached.Seconds() - last.worked.Seconds()
	s[heap], s[resident] = float64(last.used.Heap)/(1<<20), float64(last.used.Resident)/(1<<20)
	return s
}

func (m measure) median(runs [][]phase) (all sample) {
	for figure := range all {
		var values []float64
		for _, phases := range runs {
			values = append(values, m.of(phases)[figure])
		}
		all[figure] = median(values)
	}
	return all
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// writeRows writes the measures that the trials reached.
func writeRows(out io.Writer, t trial, theirs, ours [][]phase) {
	for _, m := range t.shape.measures {
		if m.to > len(t.phases) {
			continue
		}
		peer, own := m.median(theirs), m.median(ours)
		fmt.Fprintf(out, "| %d %s | %.2f | %.2f | %.2f | %.0f | %.0f | %.2f | %.0f / %.0f | %.2f | %.2f | %.2f | %.0f / %.0f | %.0f / %.0f |\n", t.pods, m.name,
			peer[seconds], own[seconds], own[seconds]/peer[seconds], peer[calls], own[calls], own[calls]/own[ends], peer[events], own[events],
			1000*peer[cpu]/peer[ends], 1000*own[cpu]/own[ends], own[cpu]/peer[cpu], peer[heap], own[heap], peer[resident], own[resident])
	}
}
