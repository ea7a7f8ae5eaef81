package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/podverdict/podverdict/conformance/upstream"
)

// progress shows how far a run has come: one line that is rewritten on a
// terminal, a line now and then elsewhere.
type progress struct {
	out          io.Writer
	total        int64
	terminal     bool
	start, shown time.Time
}

func newProgress(out io.Writer, total int64) *progress {
	return &progress{out: out, total: total, terminal: isTerminal(out), start: time.Now(), shown: time.Now()}
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (p *progress) show(t upstream.Tally) {
	interval, begin, end := 15*time.Second, "", "\n"
	if p.terminal {
		interval, begin, end = 200*time.Millisecond, "\r", "\x1b[K"
	}
	if time.Since(p.shown) < interval {
		return
	}
	p.shown = time.Now()
	rate := float64(t.Pairs) / p.elapsed().Seconds()
	left := time.Duration(float64(p.total-t.Pairs) / rate * float64(time.Second))
	fmt.Fprintf(p.out, "%s%5.1f %%  %d of %d pairs, %.0f a second, %s left%s",
		begin, 100*float64(t.Pairs)/float64(p.total), t.Pairs, p.total, rate, left.Round(time.Second), end)
}

// end clears the terminal's line.
func (p *progress) end() {
	if p.terminal {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

func (p *progress) elapsed() time.Duration {
	return time.Since(p.start)
}

// writeSummary says what was compared, and how much of what was asked for.
func writeSummary(out io.Writer, name string, total int64, elapsed time.Duration, t upstream.Tally) {
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
