package main

import (
	"io"
	"slices"

	"github.com/liggitt/tabwriter"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/podverdict/podverdict/internal/terminal"
)

// verdictTable writes verdicts for people. It may be printed in parts, which have one header and keep to its columns.
type verdictTable struct {
	namespaces bool // a column of its own, first as kubectl has it
	audits     bool // a column of its own, where policies are audited
	printer    printers.ResourcePrinter
	out        *tabwriter.Writer
}

func newVerdictTable(out io.Writer, wide, namespaces, audits bool) *verdictTable {
	return &verdictTable{
		namespaces: namespaces,
		audits:     audits,
		printer:    printers.NewTablePrinter(printers.PrintOptions{Wide: wide}),
		out:        printers.GetNewTabWriter(out),
	}
}

func (t *verdictTable) print(items []verdictItem) error {
	const always, wideOnly = 0, 1
	table := &metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{
		{Name: "Job", Priority: always},
		{Name: "Pod", Priority: always},
		{Name: "Verdict", Priority: always},
		{Name: "Rule", Priority: always},
		{Name: "Counted", Priority: always},
		{Name: "Because", Priority: always},
		{Name: "Namespace", Priority: wideOnly},
		{Name: "Message", Priority: wideOnly},
	}}
	if t.audits {
		table.ColumnDefinitions = append(table.ColumnDefinitions, metav1.TableColumnDefinition{Name: "Audit", Priority: wideOnly})
	}
	for _, item := range items {
		cells := item.cells()
		if t.audits {
			cells = append(cells, terminal.Line(item.audit()))
		}
		table.Rows = append(table.Rows, metav1.TableRow{Cells: cells})
	}
	if t.namespaces {
		moveNamespace(table)
	}
	if err := t.printer.PrintObj(table, t.out); err != nil {
		return err
	}
	return t.out.Flush()
}

// moveNamespace puts the namespace first, for all to see.
func moveNamespace(table *metav1.Table) {
	at := slices.IndexFunc(table.ColumnDefinitions, func(c metav1.TableColumnDefinition) bool { return c.Name == "Namespace" })
	table.ColumnDefinitions = slices.Insert(slices.Delete(table.ColumnDefinitions, at, at+1), 0,
		metav1.TableColumnDefinition{Name: "Namespace"})
	for i := range table.Rows {
		cells := table.Rows[i].Cells
		namespace := cells[at]
		table.Rows[i].Cells = slices.Insert(slices.Delete(cells, at, at+1), 0, namespace)
	}
}
