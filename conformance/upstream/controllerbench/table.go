package controllerbench

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// A Table has what was measured of two controllers, in medians.
type Table struct {
	Peer, Own string
	rows      []row
}

// A row is one measure of Jobs of one size.
type row struct {
	measure   measure
	pods      int
	peer, own []sample
}

// add adds a row for each measure that the trials went through.
func (t *Table) add(shape Shape, pods int, peer, own [][]Phase) {
	for _, m := range shape.measures {
		r := row{measure: m, pods: pods, peer: m.samples(peer), own: m.samples(own)}
		if len(r.peer) > 0 && len(r.own) > 0 {
			t.rows = append(t.rows, r)
		}
	}
}

func (m measure) samples(runs [][]Phase) []sample {
	var samples []sample
	for _, phases := range runs {
		if s, ok := m.take(phases); ok {
			samples = append(samples, s)
		}
	}
	return samples
}

// Write writes two tables in markdown, unless there is nothing in them: times and calls, and calls by their kind.
func (t *Table) Write(out io.Writer) {
	if len(t.rows) == 0 {
		return
	}
	fmt.Fprintf(out, "| pods | runs | %s s | %s s | ratio | at most | %s calls | %[2]s calls | %[1]s a pod | %[2]s a pod | events |\n", t.Peer, t.Own, t.Peer)
	fmt.Fprintln(out, "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, r := range t.rows {
		fmt.Fprintln(out, r)
	}
	kinds := t.kinds()
	fmt.Fprintf(out, "\n| pods, calls of %s / %s |", t.Peer, t.Own)
	for _, kind := range kinds {
		fmt.Fprintf(out, " %v |", kind)
	}
	fmt.Fprintf(out, "\n|---|%s\n", strings.Repeat("---:|", len(kinds)))
	for _, r := range t.rows {
		r.writeCalls(out, kinds)
	}
}

// String returns the row with times and calls.
func (r row) String() string {
	ratio, lives := middle(r.own, seconds)/middle(r.peer, seconds), float64(r.pods*r.measure.lives)
	return fmt.Sprintf("| %d %s | %d | %.2f | %.2f | %.2f | %.2f | %.0f | %.0f | %.2f | %.2f | %.0f / %.0f |",
		r.pods, r.measure.name, len(r.own), middle(r.peer, seconds), middle(r.own, seconds), ratio, r.measure.atMost(r.pods),
		middle(r.peer, calls), middle(r.own, calls), middle(r.peer, calls)/lives, middle(r.own, calls)/lives,
		middle(r.peer, events), middle(r.own, events))
}

func (r row) writeCalls(out io.Writer, kinds []Kind) {
	fmt.Fprintf(out, "| %d %s |", r.pods, r.measure.name)
	for _, kind := range kinds {
		number := func(s sample) float64 { return float64(s.calls[kind]) }
		fmt.Fprintf(out, " %.0f / %.0f |", middle(r.peer, number), middle(r.own, number))
	}
	fmt.Fprintln(out)
}

// kinds returns the kinds of all calls in the table but the caches', by resource.
func (t *Table) kinds() []Kind {
	all := Calls{}
	for _, r := range t.rows {
		for _, s := range slices.Concat(r.peer, r.own) {
			all = all.plus(s.calls)
		}
	}
	maps.DeleteFunc(all, func(kind Kind, _ int) bool { return kind.cached() })
	return slices.SortedFunc(maps.Keys(all), func(a, b Kind) int {
		return cmp.Or(strings.Compare(a.Resource, b.Resource), strings.Compare(a.Verb, b.Verb))
	})
}
