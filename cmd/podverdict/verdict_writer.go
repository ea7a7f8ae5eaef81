package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
)

// verdictWriter writes verdicts, Job by Job: those that were added since the last Job ended are of the one that ends next.
// Writers for people keep nothing of a Job that has ended.
type verdictWriter interface {
	add(item verdictItem)
	endJob(job manifest.Reference) error
	end(total tally) error
}

// writer returns what writes verdicts in the format asked for.
func (o *evalOptions) writer(c *console, in input) verdictWriter {
	switch o.output.name {
	case "name":
		return nameWriter{c.stdout}
	case "markdown":
		return newVerdictMarkdown(c.stdout)
	case "table", "wide":
		return newVerdictTable(c.stdout, screenOf(o.live, o.color), !o.noHeaders, verdictLayout{
			grouped: !o.noHeaders, wide: o.output.name == "wide",
			namespaces: o.input.source.query.AllNamespaces, audits: in.policies.Audits(),
		})
	}
	list := verdictList{APIVersion: apiVersion, Kind: "VerdictList", Items: []verdictItem{}}
	return &objectWriter{out: c.stdout, format: &o.output, list: list}
}

// objectWriter writes all verdicts as one object.
type objectWriter struct {
	out    io.Writer
	format *format
	list   verdictList
}

func (w *objectWriter) add(item verdictItem)            { w.list.Items = append(w.list.Items, item) }
func (w *objectWriter) endJob(manifest.Reference) error { return nil }
func (w *objectWriter) end(tally) error                 { return w.format.writeObject(w.out, w.list) }

// nameWriter writes the names of Pods, as kubectl takes them.
type nameWriter struct{ out io.Writer }

func (w nameWriter) add(item verdictItem)            { fmt.Fprintln(w.out, "pod/"+item.Pod.Name) }
func (w nameWriter) endJob(manifest.Reference) error { return nil }
func (w nameWriter) end(tally) error                 { return nil }

// tally counts Pods by their verdicts.
type tally struct {
	jobs, pods, failed, hidden int

	actions map[string]int
}

// add counts a verdict.
func (t *tally) add(item verdictItem) {
	t.pods++
	if !item.Verdict.Terminal {
		return
	}
	t.failed++
	if t.actions == nil {
		t.actions = map[string]int{}
	}
	t.actions[item.action()]++
}

// String is a sentence such as "8 of 9 Pods failed: 1 FailJob, 4 Ignore, 3 Count; --all shows the others".
func (t *tally) String() string {
	text := fmt.Sprintf("%d of %s", t.failed, plural(t.pods, "Pod"))
	if t.jobs > 1 {
		text += fmt.Sprintf(" of %d Jobs", t.jobs)
	}
	text += " failed"
	var parts []string
	for _, action := range []string{"FailJob", "FailIndex", "Count", "Ignore"} {
		if n := t.actions[action]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, action))
		}
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if t.hidden > 0 {
		text += "; --all shows the others"
	}
	return text
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
