package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance/upstream"
)

// summarizeValidation prints the number of compared submissions, and how many violate each constraint.
func summarizeValidation(out io.Writer, v upstream.Validation, elapsed time.Duration, f upstream.Findings) {
	of := ""
	if f.Submissions != v.Count {
		of = fmt.Sprintf(" of %d", v.Count)
	}
	kubernetes := compiler.DefaultVersion
	if v.Process != nil {
		kubernetes = v.Process.Kubernetes
	}
	fmt.Fprintf(out, "seed %d, Kubernetes %s: %d%s submissions (%d updates, %d CronJobs) in %s, %.0f a second\n",
		v.Seed, kubernetes, f.Submissions, of, f.Updates, f.CronJobs,
		elapsed.Round(time.Millisecond), float64(f.Submissions)/elapsed.Seconds())
	fmt.Fprintf(out, "%d without findings; upstream panics on %d\n", f.Legal, f.Panicked)
	fmt.Fprintf(out, "constraints, and how many submissions break them:\n")
	for _, id := range sortedConstraints(f) {
		fmt.Fprintf(out, "  %-4s %7d\n", id, f.Constraints[id])
	}
	for _, name := range slices.Sorted(maps.Keys(f.Named)) {
		fmt.Fprintf(out, "%d differ by name: %s\n", f.Named[name], name)
	}
}

// sortedConstraints sorts ids by letter, then by number: B2 before B10.
func sortedConstraints(f upstream.Findings) []string {
	return slices.SortedFunc(maps.Keys(f.Constraints), func(a, b string) int {
		const digits = "0123456789"
		return cmp.Or(
			strings.Compare(strings.TrimRight(a, digits), strings.TrimRight(b, digits)),
			cmp.Compare(len(a), len(b)), strings.Compare(a, b),
		)
	})
}
