package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/liggitt/tabwriter"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/podverdict/podverdict/internal/terminal"
)

// verdictTable writes verdicts for people. It may be printed in parts, which have one header and keep to its columns.
type verdictTable struct {
	namespaces bool // a column of its own, first as kubectl has it
	printer    printers.ResourcePrinter
	out        *tabwriter.Writer
}

func newVerdictTable(out io.Writer, wide, namespaces bool) *verdictTable {
	return &verdictTable{
		namespaces: namespaces,
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
	for _, item := range items {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: item.cells()})
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

// none stands in the table for what does not apply.
const none = "-"

func (i verdictItem) cells() []any {
	v := i.Verdict
	action, rule, counted := string(v.Action), none, "no"
	if !v.Terminal {
		action, counted = none, none
	}
	if v.Matched {
		rule = strconv.Itoa(v.Rule)
	}
	if v.Counted {
		counted = "yes"
	}
	message := v.Message()
	if message == "" {
		message = none
	}
	cells := []any{}
	for _, text := range []string{i.Job.Name, i.Pod.Name, action, rule, counted, i.because(), i.Pod.Namespace, message} {
		cells = append(cells, terminal.Line(text)) // kubectl's printer escapes only some of it
	}
	return cells
}

func (i verdictItem) because() string {
	v := i.Verdict
	switch {
	case !v.Terminal:
		return notTerminal(i.object)
	case v.Err != nil:
		return "error: " + v.Err.Error()
	case v.ExitCode != 0:
		return fmt.Sprintf("container %s exited with %d", v.Container, v.ExitCode)
	case v.Matched:
		return fmt.Sprintf("condition %s", v.Condition)
	case !i.policy:
		return "the Job has no podFailurePolicy"
	}
	return "no rule matches"
}

// notTerminal says why a Pod gets no verdict yet.
func notTerminal(pod *corev1.Pod) string {
	phase := string(pod.Status.Phase)
	if phase == "" {
		phase = "unknown"
	}
	if pod.DeletionTimestamp != nil {
		return "still terminating: phase is " + phase
	}
	return "phase is " + phase
}
