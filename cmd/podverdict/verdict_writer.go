package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
)

// verdictWriter writes verdicts, Job by Job: those that were added since the last Job ended are of the one that ends next.
// Writers for people keep nothing of a Job that has ended.
type verdictWriter interface {
	add(item verdictItem)
	endJob(job jobItem) error
	end(total tally) error
}

// printing says how verdicts are printed.
type printing struct {
	Out        io.Writer
	Format     *cli.Format
	Screen     print.Screen
	All        bool // also Pods that have not failed, and verdicts that do not change
	Changes    bool // without All, only verdicts that change
	NoHeaders  bool
	Namespaces bool // of several
}

// page returns a page for verdicts on Pods or on scenarios.
func (p printing) page(scenarios bool) *verdictPage {
	return &verdictPage{printing: p, writer: p.writer(scenarios)}
}

// writer returns what writes verdicts in the format asked for.
func (p *printing) writer(scenarios bool) verdictWriter {
	if scenarios && !p.NoHeaders {
		switch p.Format.Name {
		case "markdown":
			return newMarkdownMatrix(p.Out, p.All)
		case "table":
			return newTextMatrix(p.Out, p.Screen, p.All)
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
		return newVerdictMarkdown(p.Out)
	case "table", "wide":
		return p.table(verdictLayout{grouped: !p.NoHeaders})
	}
	return &objectWriter{out: p.Out, format: p.Format, list: newVerdictList()}
}

// shows reports whether a Pod is in the output: one that has failed, or containers of it, or that a rule on its phase matches. Where
// scenarios are compared, people see those that change.
func (p *printing) shows(item verdictItem) bool {
	switch {
	case p.All || p.Format.IsObject() || item.Changed:
		return true
	case p.Changes || item.Scenario != "" && item.Before != nil && p.Format.IsProse():
		return false
	}
	return item.judged() || item.Failure != nil || item.restarting() != ""
}

// objectWriter writes all verdicts as one object.
type objectWriter struct {
	out    io.Writer
	format *cli.Format
	list   verdictList
}

func (w *objectWriter) add(item verdictItem) { w.list.Items = append(w.list.Items, item) }

func (w *objectWriter) endJob(job jobItem) error {
	if job.Outlook != nil {
		w.list.Jobs = append(w.list.Jobs, job)
	}
	return nil
}

func (w *objectWriter) end(tally) error { return w.format.WriteObject(w.out, w.list) }

// nameWriter writes the names of Pods, as kubectl takes them.
type nameWriter struct{ out io.Writer }

func (w nameWriter) add(item verdictItem) {
	if item.Scenario != "" {
		fmt.Fprintln(w.out, item.Scenario)
		return
	}
	fmt.Fprintln(w.out, "pod/"+item.Pod.Name)
}

func (w nameWriter) endJob(jobItem) error { return nil }
func (w nameWriter) end(tally) error      { return nil }

// verdictPage passes verdicts on to a writer, and counts them.
type verdictPage struct {
	printing

	writer verdictWriter
	total  tally
}

// add writes the verdicts on the Pods of a Job. A Job that has nothing to show is left out, unless everything is asked for.
func (p *verdictPage) add(one *judged) error {
	p.total.addJob(one.jobItem)
	shown := 0
	for _, item := range one.items {
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
	return p.writer.endJob(one.jobItem)
}

// changes returns how many verdicts have changed.
func (p *verdictPage) changes() int { return p.total.changed() }

func (p *verdictPage) end() error { return p.writer.end(p.total) }

// tally counts Pods, or scenarios, by their verdicts.
type tally struct {
	jobs, pods, failed, hidden int

	actions   []count
	changes   []count // in the order in which they came
	restart   int     // have containers that restart in place
	judged    int     // of a comparison: has a verdict before or after
	compared  bool
	scenarios bool
	bare      bool    // no Job runs the Pods
	ruled     bool    // there are rules for them all the same
	unknown   []count // what the outlooks of Jobs lack
}

// count is how often something has come.
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

// addJob counts a Job, and takes in what is not known of it.
func (t *tally) addJob(job jobItem) {
	t.bare = job.Job.Name == ""
	t.jobs++
	if job.Outlook == nil {
		return
	}
	for _, unknown := range job.Outlook.Unknown {
		t.unknown = addCount(t.unknown, unknown)
	}
}

// lines returns the sentence of String, and what is not known.
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
func (t *tally) add(item verdictItem) {
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
	if item.restarting() != "" {
		t.restart++
	}
	if item.Verdict.Terminal {
		t.failed++
		if item.Verdict.Action != "" {
			t.actions = addCount(t.actions, item.action())
		}
	}
}

// judged reports whether something is said of the Pod.
func (i verdictItem) judged() bool { return i.Verdict.Terminal || i.Living != nil }

// changed returns how many verdicts have changed.
func (t *tally) changed() int {
	n := 0
	for _, c := range t.changes {
		n += c.n
	}
	return n
}

// String returns a sentence such as "8 of 9 Pods failed: 1 FailJob, 4 Ignore, 3 Count; --all shows the others", or that of a
// comparison: "3 of 34 scenarios change: 3 Count -> Ignore".
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
