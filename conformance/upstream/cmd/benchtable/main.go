// Command benchtable reads the output of go test -bench and prints a markdown
// table of podverdict against the Job controller's matcher, and against a table written by
// hand where there is one: medians over all runs of a benchmark.
//
//	go test -run '^$' -bench Match -count 6 . | go run ./cmd/benchtable
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
)

func main() {
	if err := benchtable(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "benchtable: %v\n", err)
		os.Exit(2)
	}
}

// runs are the results of one benchmark and engine.
type runs struct{ nanoseconds, allocations []float64 }

// row is one question, asked of all engines.
type row struct {
	policy, containers string
	engines            map[string]*runs
}

func benchtable(in io.Reader, out io.Writer) error {
	rows, err := read(in)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "| policy | containers | upstream ns | podverdict ns | times faster | table ns | times slower | upstream allocs | podverdict allocs |")
	fmt.Fprintln(out, "|---|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, r := range rows {
		theirs, ours := r.engines["upstream"], r.engines["podverdict"]
		if theirs == nil || ours == nil {
			return fmt.Errorf("policy %s, %s containers: not measured for both engines", r.policy, r.containers)
		}
		t, o := median(theirs.nanoseconds), median(ours.nanoseconds)
		table, slower := "", ""
		if byHand := r.engines["table"]; byHand != nil {
			h := median(byHand.nanoseconds)
			table, slower = fmt.Sprintf("%.1f", h), fmt.Sprintf("%.1f", o/h)
		}
		fmt.Fprintf(out, "| %s | %s | %.0f | %.1f | %.1f | %s | %s | %.0f | %.0f |\n",
			r.policy, r.containers, t, o, t/o, table, slower, median(theirs.allocations), median(ours.allocations))
	}
	return nil
}

var result = regexp.MustCompile(
	`^BenchmarkMatch(?:Cold)?/policy=([^/]+)/containers=([\d-]+)/engine=(\w+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op\s+\d+ B/op\s+(\d+) allocs/op`)

// read collects results in the order of their first appearance. A failed test
// run is an error: its table would be of something else.
func read(in io.Reader) ([]*row, error) {
	var rows []*row
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if text := lines.Text(); text == "FAIL" {
			return nil, errors.New("the benchmarks failed")
		}
		m := result.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		r := find(&rows, m[1], m[2])
		if r.engines[m[3]] == nil {
			r.engines[m[3]] = &runs{}
		}
		if err := r.engines[m[3]].add(m[4], m[5]); err != nil {
			return nil, fmt.Errorf("%q: %w", lines.Text(), err)
		}
	}
	if len(rows) == 0 {
		return nil, errors.Join(errors.New("no results of BenchmarkMatch with allocations"), lines.Err())
	}
	return rows, lines.Err()
}

func find(rows *[]*row, policy, containers string) *row {
	for _, r := range *rows {
		if r.policy == policy && r.containers == containers {
			return r
		}
	}
	r := &row{policy: policy, containers: containers, engines: map[string]*runs{}}
	*rows = append(*rows, r)
	return r
}

func (r *runs) add(nanoseconds, allocations string) error {
	ns, err := strconv.ParseFloat(nanoseconds, 64)
	if err != nil {
		return err
	}
	allocs, err := strconv.ParseFloat(allocations, 64)
	if err != nil {
		return err
	}
	r.nanoseconds, r.allocations = append(r.nanoseconds, ns), append(r.allocations, allocs)
	return nil
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
