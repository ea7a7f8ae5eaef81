package verdicts

import (
	"cmp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	controllerplan "github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// layout selects the columns of a table of verdicts.
type layout struct {
	grouped    bool // by Job, under a heading
	namespaces bool // Pods are from several namespaces
	wide       bool
	notes      bool // print notes below a row instead of in it
	now        func() time.Time
}

type column struct {
	print.Column

	in   func(layout) bool // nil: always
	cell func(Item) string
}

// columns returns the columns of a layout.
func (l layout) columns() []column {
	ungrouped := func(l layout) bool { return !l.grouped }
	wide := func(l layout) bool { return l.wide }
	all := []column{
		{print.Column{Name: "NAMESPACE", Least: 8}, func(l layout) bool { return !l.grouped && l.namespaces },
			func(i Item) string { return i.Pod.Namespace }},
		{print.Column{Name: "JOB", Least: 8}, ungrouped, func(i Item) string { return i.Job.Name }},
		{print.Column{Name: "POD", Least: 12, KeepEnd: true}, nil, func(i Item) string { return i.Pod.Name }},
		{print.Column{Name: "VERDICT"}, nil, Item.changedAction},
		{print.Column{Name: "RULE", Least: 12}, nil, Item.rule},
		{print.Column{Name: "COUNTED"}, wide, Item.counted},
		{print.Column{Name: "AGE"}, func(l layout) bool { return l.now != nil }, func(i Item) string { return i.age(l.now()) }},
		{print.Column{Name: "BECAUSE", Least: 16, Below: true}, nil, l.because},
		{print.Column{Name: "MESSAGE"}, wide, func(i Item) string { return i.Verdict.Message() }},
	}
	var chosen []column
	for _, column := range all {
		if column.in == nil || column.in(l) {
			chosen = append(chosen, column)
		}
	}
	return chosen
}

// because returns the reason cell.
func (l layout) because(i Item) string {
	parts := []string{i.changedBecause()}
	if !l.notes {
		parts = append(parts, i.notes()...)
	}
	return strings.Join(parts, "; ")
}

// notes returns additions to a verdict: verdicts that are not carried out, and changes to the next attempt.
func (i Item) notes() (all []string) {
	for _, would := range i.Would {
		all = append(all, would.String())
	}
	if next := i.nextAttempt(); next != "" {
		all = append(all, next)
	}
	return all
}

// cells returns a row.
func cells(columns []column, item Item) []print.Cell {
	row := make([]print.Cell, len(columns))
	for i, column := range columns {
		row[i].Text = cmp.Or(column.cell(item), print.None)
		if column.Name == "VERDICT" {
			row[i].Color = verdictColors[item.action()]
		}
	}
	return row
}

// verdictColors maps actions to colours by cost: the Job, an index, an attempt, nothing.
var verdictColors = map[string]print.Color{
	"FailJob": print.Red, "FailIndex": print.Magenta, "Count": print.Yellow, "Ignore": print.Green, print.None: print.Faint,
}

// age returns the time since a failed Pod finished.
func (i Item) age(now time.Time) string {
	finish := controllerplan.FinishTime(i.object)
	if !i.Verdict.Terminal || finish.IsZero() {
		return print.None
	}
	return duration.HumanDuration(max(0, now.Sub(finish)))
}

// table writes verdicts as a table: a heading for each Job and a row for each Pod.
type table struct {
	layout  layout
	columns []column
	out     *print.Table
	begun   bool
	job     manifest.Reference // Job of the last heading
}

// newTable returns a table of verdicts.
func (p Printing) newTable(layout layout) *table {
	layout.wide, layout.namespaces, layout.notes = p.Format.Name == "wide", p.Namespaces, !p.NoHeaders
	t := &table{layout: layout, columns: layout.columns()}
	screen := p.Screen
	if layout.wide {
		screen.Width = 0 // wide output is never cut
	}
	t.out = print.NewTable(p.Out, screen, layout.notes, tableColumns(t.columns)...)
	return t
}

func tableColumns(all []column) []print.Column {
	columns := make([]print.Column, len(all))
	for i, column := range all {
		columns[i] = column.Column
	}
	return columns
}

func (t *table) add(item Item) {
	t.out.Row(cells(t.columns, item)...)
	if t.layout.notes {
		for _, note := range item.notes() {
			t.out.Note(note)
		}
	}
}

func (t *table) endJob(job JobItem) error {
	if again := job.continued && t.job == job.Job; t.layout.grouped && !again {
		t.job = job.Job
		t.space()
		t.out.Heading(job.heading(), job.String())
		if gone := job.gone(); gone != "" {
			t.out.Paragraph(0, print.Cell{Text: gone})
		}
	}
	if err := t.out.Flush(); err != nil || job.JobSet == nil || !t.layout.grouped {
		return err
	}
	t.out.Paragraph(0, print.Cell{Text: job.JobSet.line()})
	return t.out.Flush()
}

func (t *table) end(total tally) error {
	if t.layout.grouped {
		t.space()
		for _, line := range total.lines() {
			t.out.Line(line)
		}
	}
	return t.out.Flush()
}

// space writes an empty line between two Jobs, and before the totals.
func (t *table) space() {
	if t.begun {
		t.out.Space()
	}
	t.begun = true
}
