package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// line shows the progress of a long run on standard error: as a rewritten line on a terminal, otherwise as an occasional
// line.
type line struct {
	out          io.Writer
	total        int64
	noun         string
	terminal     bool
	start, shown time.Time
}

// newLine starts the clock of a run over total items, named by a plural noun.
func newLine(out io.Writer, total int64, noun string) *line {
	return &line{out: out, total: total, noun: noun, terminal: isTerminal(out), start: time.Now(), shown: time.Now()}
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// show prints the progress, unless it was printed recently.
func (l *line) show(done int64) {
	interval, begin, end := 15*time.Second, "", "\n"
	if l.terminal {
		interval, begin, end = 200*time.Millisecond, "\r", "\x1b[K"
	}
	if time.Since(l.shown) < interval {
		return
	}
	l.shown = time.Now()
	rate := float64(done) / l.elapsed().Seconds()
	left := time.Duration(float64(l.total-done) / rate * float64(time.Second))
	fmt.Fprintf(l.out, "%s%5.1f %%  %d of %d %s, %.0f a second, %s left%s",
		begin, 100*float64(done)/float64(l.total), done, l.total, l.noun, rate, left.Round(time.Second), end)
}

// end clears the terminal's line.
func (l *line) end() {
	if l.terminal {
		fmt.Fprint(l.out, "\r\x1b[K")
	}
}

// elapsed returns the time since newLine.
func (l *line) elapsed() time.Duration { return time.Since(l.start) }
