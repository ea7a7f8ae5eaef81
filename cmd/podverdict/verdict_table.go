package main

import (
	"cmp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	controllerplan "github.com/podverdict/podverdict/controller/plan"
)

// verdictLayout says which columns a table of verdicts has.
type verdictLayout struct {
	grouped    bool // by Job, which a heading names
	namespaces bool // of several
	wide       bool
	notes      bool // what is said besides the verdict stands below a row, else in it
	now        func() time.Time
}

type verdictColumn struct {
	print.Column

	in   func(verdictLayout) bool // nil: always
	cell func(verdictItem) string
}

// columns returns the columns of a layout.
func (l verdictLayout) columns() []verdictColumn {
	ungrouped := func(l verdictLayout) bool { return !l.grouped }
	wide := func(l verdictLayout) bool { return l.wide }
	all := []verdictColumn{
		{print.Column{Name: "NAMESPACE", Least: 8}, func(l verdictLayout) bool { return !l.grouped && l.namespaces },
			func(i verdictItem) string { return i.Pod.Namespace }},
		{print.Column{Name: "JOB", Least: 8}, ungrouped, func(i verdictItem) string { return i.Job.Name }},
		{print.Column{Name: "POD", Least: 12, KeepEnd: true}, nil, func(i verdictItem) string { return i.Pod.Name }},
		{print.Column{Name: "VERDICT"}, nil, verdictItem.changedAction},
		{print.Column{Name: "RULE", Least: 12}, nil, verdictItem.rule},
		{print.Column{Name: "COUNTED"}, wide, verdictItem.counted},
		{print.Column{Name: "AGE"}, func(l verdictLayout) bool { return l.now != nil }, func(i verdictItem) string { return i.age(l.now()) }},
		{print.Column{Name: "BECAUSE", Least: 16, Below: true}, nil, l.because},
		{print.Column{Name: "MESSAGE"}, wide, func(i verdictItem) string { return i.Verdict.Message() }},
	}
	var chosen []verdictColumn
	for _, column := range all {
		if column.in == nil || column.in(l) {
			chosen = append(chosen, column)
		}
	}
	return chosen
}

// because returns the cell of a reason.
func (l verdictLayout) because(i verdictItem) string {
	parts := []string{i.changedBecause()}
	if !l.notes {
		parts = append(parts, i.notes()...)
	}
	return strings.Join(parts, "; ")
}

// notes returns what is said besides a verdict: what nobody carries out, and what the next attempt gets.
func (i verdictItem) notes() (all []string) {
	for _, would := range i.Would {
		all = append(all, would.String())
	}
	if next := i.nextAttempt(); next != "" {
		all = append(all, next)
	}
	return all
}

// cells returns a row.
func cells(columns []verdictColumn, item verdictItem) []print.Cell {
	row := make([]print.Cell, len(columns))
	for i, column := range columns {
		row[i].Text = cmp.Or(column.cell(item), none)
		if column.Name == "VERDICT" {
			row[i].Color = verdictColors[item.action()]
		}
	}
	return row
}

// verdictColors are by what a verdict costs: the Job, an index, an attempt, nothing.
var verdictColors = map[string]print.Color{
	"FailJob": print.Red, "FailIndex": print.Magenta, "Count": print.Yellow, "Ignore": print.Green, none: print.Faint,
}

// age says how long ago a failed Pod finished.
func (i verdictItem) age(now time.Time) string {
	finish := controllerplan.FinishTime(i.object)
	if !i.Verdict.Terminal || finish.IsZero() {
		return none
	}
	return duration.HumanDuration(max(0, now.Sub(finish)))
}

// verdictTable writes verdicts for people: each Job has a heading, and its Pods a row each.
type verdictTable struct {
	layout  verdictLayout
	columns []verdictColumn
	out     *print.Table
	begun   bool
}

// table returns a table of verdicts.
func (p *printing) table(layout verdictLayout) *verdictTable {
	layout.wide, layout.namespaces, layout.notes = p.Format.Name == "wide", p.Namespaces, !p.NoHeaders
	t := &verdictTable{layout: layout, columns: layout.columns()}
	screen := p.Screen
	if layout.wide {
		screen.Width = 0 // who asks for everything gets it
	}
	t.out = print.NewTable(p.Out, screen, layout.notes, tableColumns(t.columns)...)
	return t
}

func tableColumns(all []verdictColumn) []print.Column {
	columns := make([]print.Column, len(all))
	for i, column := range all {
		columns[i] = column.Column
	}
	return columns
}

func (t *verdictTable) add(item verdictItem) {
	t.out.Row(cells(t.columns, item)...)
	if t.layout.notes {
		for _, note := range item.notes() {
			t.out.Note(note)
		}
	}
}

func (t *verdictTable) endJob(job jobItem) error {
	if t.layout.grouped {
		t.space()
		t.out.Heading(job.heading(), job.String())
	}
	if err := t.out.Flush(); err != nil || job.JobSet == nil || !t.layout.grouped {
		return err
	}
	t.out.Paragraph(0, print.Cell{Text: job.JobSet.line()})
	return t.out.Flush()
}

func (t *verdictTable) end(total tally) error {
	if t.layout.grouped {
		t.space()
		for _, line := range total.lines() {
			t.out.Line(line)
		}
	}
	return t.out.Flush()
}

// space writes an empty line between two Jobs, and before the end.
func (t *verdictTable) space() {
	if t.begun {
		t.out.Space()
	}
	t.begun = true
}
