package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/podverdict/podverdict/internal/terminal"
)

// progress shows the progress of a long run on a terminal, in one line that it rewrites. Elsewhere it shows nothing.
type progress struct {
	out   io.Writer // nil to show nothing
	what  string
	total int // 0 if unknown

	mutex sync.Mutex
	begun time.Time
	done  int
	next  time.Time
	shown bool
}

// Short runs show nothing, and long ones no more often than can be read.
const (
	progressDelay    = 500 * time.Millisecond
	progressInterval = 100 * time.Millisecond
)

// NewProgress returns a progress that counts processed items; total is 0 if unknown.
func NewProgress(out io.Writer, what string, total int) *progress {
	p := &progress{what: what, total: total, begun: time.Now(), next: time.Now().Add(progressDelay)}
	if raw := terminal.Raw(out); isTerminal(raw) {
		p.out = raw // safe without a filter, since progress writes no names
	}
	return p
}

// isTerminal reports whether a stream of the console is a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func (p *progress) Step() { p.Add(1) }

func (p *progress) Add(n int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.done += n
	if p.out == nil || time.Now().Before(p.next) {
		return
	}
	text := fmt.Sprintf("%s: %d", p.what, p.done)
	if p.total > 0 {
		text += fmt.Sprintf(" of %d", p.total)
	}
	if seconds := time.Since(p.begun).Seconds(); seconds >= 1 {
		text += fmt.Sprintf(", %.0f a second", float64(p.done)/seconds)
	}
	fmt.Fprintf(p.out, "\r%s\x1b[K", text)
	p.shown, p.next = true, time.Now().Add(progressInterval)
}

// End clears the line.
func (p *progress) End() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	p.shown = false
}
