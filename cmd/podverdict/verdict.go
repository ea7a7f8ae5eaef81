package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/liggitt/tabwriter"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/terminal"
	"github.com/podverdict/podverdict/runtime"
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

// none stands in the table for what does not apply.
const none = "-"

// ruleIsTrue is what there is to say of a custom rule that says nothing itself.
const ruleIsTrue = "its expression is true"

func (i verdictItem) cells() []any {
	v := i.Verdict
	action, rule, counted := string(v.Action), none, "no"
	if !v.Terminal {
		action, counted = none, none
	}
	switch {
	case v.Matched:
		rule = ruleCell(v)
	case i.Pending != nil && i.Pending.Matched:
		rule = ruleCell(*i.Pending)
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

// ruleCell is the rule without spaces: its index, or its policy's name and its own.
func ruleCell(v runtime.Verdict) string {
	if v.Policy != "" {
		return v.Policy + "/" + v.RuleName
	}
	return strconv.Itoa(v.Rule)
}

// audit is what the verdict would be with the audited policies.
func (i verdictItem) audit() string {
	switch {
	case i.Audit == nil:
		return none
	case !i.Audit.Matched && i.Audit.Err != nil:
		return "error: " + i.Audit.Err.Error()
	case !i.Audit.Matched:
		return string(i.Audit.Action)
	}
	return fmt.Sprintf("%s by %s", i.Audit.Action, ruleCell(*i.Audit))
}

// audited is the item with the other verdict.
func (i verdictItem) audited() verdictItem {
	i.Verdict, i.Audit = *i.Audit, nil
	return i
}

// because is why the verdict is what it is, with an error that was ignored on the way.
func (i verdictItem) because() string {
	if v := i.Verdict; v.Matched && v.Err != nil {
		return i.reason() + "; ignored error: " + v.Err.Error()
	}
	return i.reason()
}

func (i verdictItem) reason() string {
	v := i.Verdict
	switch {
	case i.Pending != nil:
		return notTerminal(i.object) + ": " + i.pendingText()
	case !v.Terminal:
		return notTerminal(i.object)
	case v.Err != nil && !v.Matched:
		return "error: " + v.Err.Error()
	case v.ExitCode != 0:
		return fmt.Sprintf("container %s exited with %d", v.Container, v.ExitCode)
	case v.Policy != "":
		return cmp.Or(v.Says(), ruleIsTrue)
	case v.Matched:
		return fmt.Sprintf("condition %s", v.Condition)
	case i.noRules != "":
		return i.noRules
	}
	return "no rule matches"
}

// pendingText is what becomes of a Pod that a rule on Pending matches.
func (i verdictItem) pendingText() string {
	v := *i.Pending
	if !v.Matched {
		return "error: " + v.Err.Error()
	}
	becomes := "left alone (pendingPods: Ignore), else "
	switch {
	case i.binding.Spec.Mode == v1alpha1.ModeAudit:
		becomes = "left alone (mode: Audit), else "
	case i.binding.Spec.PendingPods == v1alpha1.PendingPodsDelete:
		becomes = "to be deleted, "
	}
	return becomes + string(v.Action) + ": " + cmp.Or(v.Says(), ruleIsTrue)
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
