package main

import (
	"fmt"
	"io"
	"os"
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

func (p *progress) show(f upstream.Findings) {
	interval, begin, end := 15*time.Second, "", "\n"
	if p.terminal {
		interval, begin, end = 200*time.Millisecond, "\r", "\x1b[K"
	}
	if time.Since(p.shown) < interval {
		return
	}
	p.shown = time.Now()
	rate := float64(f.Submissions) / p.elapsed().Seconds()
	left := time.Duration(float64(p.total-f.Submissions) / rate * float64(time.Second))
	fmt.Fprintf(p.out, "%s%5.1f %%  %d of %d submissions, %.0f a second, %s left%s",
		begin, 100*float64(f.Submissions)/float64(p.total), f.Submissions, p.total, rate, left.Round(time.Second), end)
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
