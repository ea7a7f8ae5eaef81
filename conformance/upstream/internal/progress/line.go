// Package progress has what commands of long runs share: a line on standard error says how far they have come, and a report how they ended.
package progress

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Line is one line that is rewritten on a terminal, and elsewhere a line now and
// then.
type Line struct {
	out          io.Writer
	total        int64
	noun         string
	terminal     bool
	start, shown time.Time
}

// New starts the clock of a run over a total of things, named in the plural.
func New(out io.Writer, total int64, noun string) *Line {
	return &Line{out: out, total: total, noun: noun, terminal: isTerminal(out), start: time.Now(), shown: time.Now()}
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Show says how much is done, unless it has just said so.
func (l *Line) Show(done int64) {
	interval, begin, end := 15*time.Second, "", "\n"
	if l.terminal {
		interval, begin, end = 200*time.Millisecond, "\r", "\x1b[K"
	}
	if time.Since(l.shown) < interval {
		return
	}
	l.shown = time.Now()
	rate := float64(done) / l.Elapsed().Seconds()
	left := time.Duration(float64(l.total-done) / rate * float64(time.Second))
	fmt.Fprintf(l.out, "%s%5.1f %%  %d of %d %s, %.0f a second, %s left%s",
		begin, 100*float64(done)/float64(l.total), done, l.total, l.noun, rate, left.Round(time.Second), end)
}

// End clears the terminal's line.
func (l *Line) End() {
	if l.terminal {
		fmt.Fprint(l.out, "\r\x1b[K")
	}
}

// Elapsed returns the time since New.
func (l *Line) Elapsed() time.Duration { return time.Since(l.start) }
