package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/podverdict/podverdict/conformance/upstream"
)

// summarizeDifferential prints the number of compared pairs, and the verdicts.
func summarizeDifferential(out io.Writer, name string, total int64, elapsed time.Duration, t upstream.Tally) {
	of := ""
	if t.Pairs != total {
		of = fmt.Sprintf(" of %d", total)
	}
	fmt.Fprintf(out, "%s: %d%s pairs (%d policies) in %s, %.0f a second\n",
		name, t.Pairs, of, t.Policies, elapsed.Round(time.Millisecond), float64(t.Pairs)/elapsed.Seconds())
	fmt.Fprintf(out, "evaluations: specialised CEL %d, Go %d, upstream %d, interpreted CEL %d (%d policies)\n",
		t.Pairs, t.Pairs, t.Pairs, t.GenericPairs, t.GenericPolicies)
	var counts []string
	for _, action := range slices.Sorted(maps.Keys(t.Matched)) {
		counts = append(counts, fmt.Sprintf("%s %d", action, t.Matched[action]))
	}
	counts = append(counts, fmt.Sprintf("no match %d", t.Unmatched), fmt.Sprintf("not terminal %d", t.NotTerminal))
	fmt.Fprintf(out, "verdicts: %s\n", strings.Join(counts, ", "))
}
