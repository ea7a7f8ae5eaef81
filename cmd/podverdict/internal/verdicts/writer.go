package verdicts

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
)

// writer writes verdicts Job by Job: items added since the last endJob belong to the Job of the next endJob. Writers of prose formats
// keep nothing from a Job that has ended.
type writer interface {
	add(item Item)
	endJob(job JobItem) error
	end(total tally) error
}

// Printing holds the options for printing verdicts.
type Printing struct {
	Out        io.Writer
	Format     *cli.Format
	Screen     print.Screen
	All        bool // include Pods that have not failed, and unchanged verdicts
	Changes    bool // print only changed verdicts, unless All is set
	NoHeaders  bool
	Namespaces bool // Pods are from several namespaces
}

// Page returns a page for verdicts on Pods or on scenarios.
func (p Printing) Page(scenarios bool) *Page {
	return &Page{Printing: p, writer: p.newWriter(scenarios)}
}

// newWriter returns the writer for the chosen format.
func (p Printing) newWriter(scenarios bool) writer {
	if scenarios && !p.NoHeaders {
		switch p.Format.Name {
		case "markdown":
			return newMarkdownMatrix(p.Out, p.All)
		case "table":
			return &matrix{page: print.NewTable(p.Out, p.Screen, false), all: p.All}
		}
	}
	switch p.Format.Name {
	case "name":
		return nameWriter{p.Out}
	case "json":
		return &jsonListWriter{out: p.Out}
	case "ndjson":
		return &lineWriter{out: p.Out}
	case "markdown":
		return newMarkdown(p.Out)
	case "table", "wide":
		return p.newTable(layout{grouped: !p.NoHeaders})
	}
	return &objectWriter{out: p.Out, format: p.Format, list: newList()}
}

// shows reports whether a Pod is printed: it failed, its containers restarted, a rule on its phase matched, or it holds the Job up. A
// comparison of scenarios in a prose format prints only changes.
func (p Printing) shows(item Item) bool {
	switch {
	case p.All || p.Format.IsObject() || item.Changed:
		return true
	case p.Changes || item.Scenario != "" && item.Before != nil && p.Format.IsProse():
		return false
	}
	return item.judged() || item.Failure != nil || item.Restarting() != "" || item.heldUp()
}

// objectWriter writes all verdicts as one object.
type objectWriter struct {
	out    io.Writer
	format *cli.Format
	list   list
}

func (w *objectWriter) add(item Item) { w.list.Items = append(w.list.Items, item) }

func (w *objectWriter) endJob(job JobItem) error {
	if job.Outlook != nil {
		w.list.Jobs = append(w.list.Jobs, job)
	}
	return nil
}

func (w *objectWriter) end(tally) error { return w.format.WriteObject(w.out, w.list) }

// nameWriter writes the names of Pods in the form that kubectl accepts.
type nameWriter struct{ out io.Writer }

func (w nameWriter) add(item Item) {
	if item.Scenario != "" {
		fmt.Fprintln(w.out, item.Scenario)
		return
	}
	fmt.Fprintln(w.out, "pod/"+item.Pod.Name)
}

func (w nameWriter) endJob(JobItem) error { return nil }
func (w nameWriter) end(tally) error      { return nil }

// Page passes verdicts to a writer, and counts them.
type Page struct {
	Printing

	writer writer
	total  tally
}

// Add writes the verdicts on a Job's Pods. It skips a Job without verdicts to print, unless All is set.
func (p *Page) Add(one *Judged) error {
	p.total.addJob(one.JobItem)
	shown := 0
	for _, item := range one.Items {
		p.total.add(item)
		if p.shows(item) {
			p.writer.add(item)
			shown++
		} else {
			p.total.hidden++
		}
	}
	if shown == 0 && !p.All && !p.Format.IsObject() && !one.urgent() {
		return nil
	}
	return p.writer.endJob(one.JobItem)
}

// Changes returns the number of changed verdicts.
func (p *Page) Changes() int { return p.total.changed() }

// End writes the totals in prose formats.
func (p *Page) End() error { return p.writer.end(p.total) }

// tally counts Pods or scenarios by verdict.
type tally struct {
	jobs, pods, failed, hidden int

	actions   []count
	changes   []count // in order of first occurrence
	restart   int     // number of Pods with containers that restart in place
	judged    int     // in a comparison: number of Pods with a verdict before or after
	compared  bool
	scenarios bool
	bare      bool    // no Job runs the Pods
	ruled     bool    // rules apply to Pods without a Job
	unknown   []count // facts that the Jobs' outlooks lack
}

// count is a number of occurrences.
type count struct {
	what string
	n    int
}

func addCount(counts []count, what string) []count {
	for i := range counts {
		if counts[i].what == what {
			counts[i].n++
			return counts
		}
	}
	return append(counts, count{what, 1})
}

// addJob counts a Job and the unknown facts of its outlook.
func (t *tally) addJob(job JobItem) {
	t.bare = job.Job.Name == ""
	if !job.continued && job.cronJob == nil {
		t.jobs++
	}
	if job.Outlook == nil {
		return
	}
	for _, unknown := range job.Outlook.Unknown {
		t.unknown = addCount(t.unknown, unknown)
	}
}

// lines returns the sentence of String, followed by the unknown facts.
func (t *tally) lines() []string {
	lines := []string{t.String()}
	for _, unknown := range t.unknown {
		text := "not known: " + unknown.what
		if t.jobs > 1 {
			text += fmt.Sprintf(" (%s)", print.Plural(unknown.n, "Job"))
		}
		lines = append(lines, text)
	}
	return lines
}

// add counts a verdict.
func (t *tally) add(item Item) {
	t.pods++
	t.scenarios, t.ruled = item.Scenario != "", item.noRules != noDecider
	if before := item.Before; before != nil {
		t.compared = true
		if before.item.judged() || item.judged() {
			t.judged++
		}
	}
	if item.Changed {
		t.changes = addCount(t.changes, item.changeInBrief())
	}
	if item.Restarting() != "" {
		t.restart++
	}
	if item.Verdict.Terminal {
		t.failed++
		if item.Verdict.Action != "" {
			t.actions = addCount(t.actions, item.action())
		}
	}
}

// judged reports whether the Pod has a verdict, on its failure or on its phase.
func (i Item) judged() bool { return i.Verdict.Terminal || i.Living != nil }

// changed returns the number of changed verdicts.
func (t *tally) changed() int {
	n := 0
	for _, c := range t.changes {
		n += c.n
	}
	return n
}

// String returns a sentence such as "8 of 9 Pods failed: 1 FailJob, 4 Ignore, 3 Count; --all shows the others", or for a comparison "3 of
// 34 scenarios change: 3 Count -> Ignore".
func (t *tally) String() string {
	noun, verb := "Pod", "failed"
	if t.scenarios {
		noun, verb = "scenario", "fail the Pod"
	}
	n, of, parts := t.failed, t.pods, slices.Clone(t.actions)
	slices.SortFunc(parts, func(a, b count) int {
		return cmp.Compare(slices.Index(actionOrder, a.what), slices.Index(actionOrder, b.what))
	})
	if t.compared {
		n, of, parts, verb = t.changed(), t.judged, t.changes, "change"
		if n == 1 {
			verb = "changes"
		}
	}
	if t.pods == 0 && !t.compared {
		return "no Pods in the input"
	}
	text := fmt.Sprintf("%d of %s", n, print.Plural(of, noun))
	if t.jobs > 1 && !t.bare {
		text += fmt.Sprintf(" of %d Jobs", t.jobs)
	}
	text += " " + verb
	var counts []string
	for _, part := range parts {
		counts = append(counts, fmt.Sprintf("%d %s", part.n, part.what))
	}
	if len(counts) > 0 {
		text += ": " + strings.Join(counts, ", ")
	}
	switch {
	case t.bare && len(t.actions) > 0:
		text += " by the given rules; no Job decides on these Pods"
	case t.bare && t.ruled:
		text += "; no Job decides on these Pods"
	case t.bare:
		text += "; no Job decides on them, and --policy FILE tries rules"
	case t.scenarios && !t.compared && t.restart > 0:
		text += fmt.Sprintf("; in %d a container restarts in place", t.restart)
	}
	if t.hidden > 0 {
		text += "; --all shows the others"
	}
	return text
}
