package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/liggitt/tabwriter"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/podverdict/podverdict/internal/terminal"
)

type verdictColumn struct {
	name string
	wide bool // not in tables of normal width
	cell func(verdictItem) string
}

var verdictColumns = []verdictColumn{
	{"JOB", false, func(i verdictItem) string { return i.Job.Name }},
	{"POD", false, func(i verdictItem) string { return i.Pod.Name }},
	{"VERDICT", false, verdictItem.action},
	{"RULE", false, verdictItem.rule},
	{"COUNTED", false, verdictItem.counted},
	{"BECAUSE", false, verdictItem.because},
	{columnNamespace, true, func(i verdictItem) string { return i.Pod.Namespace }},
	{"MESSAGE", true, func(i verdictItem) string { return i.Verdict.Message() }},
	{columnAudit, true, verdictItem.audit},
}

const (
	columnNamespace = "NAMESPACE" // first when Pods are of several, as kubectl has it
	columnAudit     = "AUDIT"     // where policies are audited
)

// verdictTable writes verdicts for people. It may be printed in parts, which have one header and keep to its columns.
type verdictTable struct {
	columns []verdictColumn
	out     *tabwriter.Writer
	begun   bool
}

func newVerdictTable(out io.Writer, wide, namespaces, audits bool) *verdictTable {
	t := &verdictTable{out: printers.GetNewTabWriter(out)}
	for _, column := range verdictColumns {
		switch {
		case column.name == columnNamespace && namespaces:
			t.columns = slices.Insert(t.columns, 0, column)
		case column.wide && !wide, column.name == columnAudit && !audits:
		default:
			t.columns = append(t.columns, column)
		}
	}
	return t
}

func (t *verdictTable) print(items []verdictItem) error {
	cells := make([]string, len(t.columns))
	for _, item := range items {
		if !t.begun {
			for i, column := range t.columns {
				cells[i] = column.name
			}
			fmt.Fprintln(t.out, strings.Join(cells, "\t"))
			t.begun = true
		}
		for i, column := range t.columns {
			cells[i] = terminal.Line(cmp.Or(column.cell(item), none))
		}
		fmt.Fprintln(t.out, strings.Join(cells, "\t"))
	}
	return t.out.Flush()
}
