package report

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/internal/evidence"
)

// write writes a report in the chosen format.
func (o *options) write(out io.Writer, r *evidence.Report) error {
	switch o.output.Name {
	case "json":
		return o.output.WriteObject(out, r)
	case "csv":
		return writeCSV(out, r)
	case "markdown":
		return writeMarkdown(out, r)
	}
	return writeTable(out, cli.ScreenOf(o.live, o.color), r)
}

// part is a table of the report.
type part struct {
	columns []print.Column
	rows    [][]print.Cell
	more    string // line below the table
}

// partsOf returns the sections of a report, and the rules that never matched.
func partsOf(r *evidence.Report) (parts []part) {
	hours := hourColumns(r.Total)
	for _, s := range r.Sections {
		if len(s.Rows) == 0 && s.Rest == nil {
			continue
		}
		part := part{columns: []print.Column{
			{Name: strings.ToUpper(s.By), Least: 12, KeepEnd: true},
			{Name: "FAILED"}, {Name: "JOBS"}, {Name: "RETRIED"}, {Name: "RECOVERED"},
		}}
		for _, name := range hours {
			part.columns = append(part.columns, print.Column{Name: hourTitle(name)})
		}
		for _, row := range s.Rows {
			part.rows = append(part.rows, rowCells(cmp.Or(row.Value, "(none)"), row, hours))
		}
		if s.Rest != nil {
			rest := rowCells(fmt.Sprintf("(%d more)", s.More), *s.Rest, hours)
			rest[2].Text = print.None // the sum would count a Job once for each of its rows
			part.rows = append(part.rows, rest)
		}
		parts = append(parts, part)
	}
	if len(r.Idle) > 0 {
		parts = append(parts, idlePart(r))
	}
	return parts
}

func rowCells(name string, row evidence.Row, hours []corev1.ResourceName) []print.Cell {
	cells := []print.Cell{{Text: name}}
	for _, n := range []int64{row.Failed, row.Jobs, row.Retried, row.Recovered} {
		cells = append(cells, print.Cell{Text: strconv.FormatInt(n, 10)})
	}
	if cells[1].Color = print.Red; row.Failed == row.Ignored {
		cells[1].Color = print.Green
	}
	for _, resource := range hours {
		cells = append(cells, print.Cell{Text: hourCell(row.Hours[resource])})
	}
	return cells
}

func idlePart(r *evidence.Report) part {
	part := part{columns: []print.Column{
		{Name: "NEVER MATCHED", Least: 13, KeepEnd: true}, {Name: "OWNER", Least: 12, KeepEnd: true}, {Name: "FAILED"}, {Name: "JOBS"},
	}}
	for _, rule := range r.Idle {
		part.rows = append(part.rows, []print.Cell{
			{Text: rule.Rule}, {Text: cmp.Or(rule.Owner, print.None)}, {Text: strconv.FormatInt(rule.Failed, 10)}, {Text: strconv.FormatInt(rule.Jobs, 10)},
		})
	}
	if r.MoreIdle > 0 {
		part.more = print.Plural(r.MoreIdle, "more rule") + " never matched"
	}
	return part
}

// hourColumns returns the resources whose hours have a column: CPU, and the extended resource with most hours, or else memory.
func hourColumns(total evidence.Row) []corev1.ResourceName {
	if len(total.Hours) == 0 {
		return nil
	}
	second := corev1.ResourceMemory
	for _, name := range slices.Sorted(maps.Keys(total.Hours)) {
		if strings.Contains(string(name), "/") && (second == corev1.ResourceMemory || total.Hours[name] > total.Hours[second]) {
			second = name
		}
	}
	return []corev1.ResourceName{corev1.ResourceCPU, second}
}

// hourTitle returns the title of a column of hours: CPU H, GIB H, or GPU H for nvidia.com/gpu.
func hourTitle(name corev1.ResourceName) string {
	if evidence.IsBytes(name) {
		return "GIB H"
	}
	return strings.ToUpper(string(name)[strings.LastIndexByte(string(name), '/')+1:]) + " H"
}

// hourCell formats hours with about three digits.
func hourCell(hours float64) string {
	digits := 2
	switch {
	case hours >= 1e9:
		return strconv.FormatFloat(hours, 'g', 3, 64)
	case hours >= 100:
		digits = 0
	case hours >= 10:
		digits = 1
	}
	shift := math.Pow10(digits)
	return strconv.FormatFloat(math.Round(hours*shift)/shift, 'f', -1, 64)
}

// Hours lists hours by resource: CPU, memory, and then the others.
func Hours(hours map[corev1.ResourceName]float64) string {
	var parts []string
	for _, name := range resources(hours) {
		unit := "hours"
		if evidence.IsBytes(name) {
			unit = "GiB hours"
		}
		parts = append(parts, fmt.Sprintf("%s %s of %s", hourCell(hours[name]), unit, strings.Replace(string(name), "cpu", "CPU", 1)))
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing, or it is not known")
}

// summary returns the lines of the summary.
func summary(r *evidence.Report) []string {
	if r.Total.Attempts == 0 {
		return []string{"No Pod has ended."}
	}
	const layout = "2006-01-02 15:04"
	lines := []string{fmt.Sprintf("From %s to %s UTC", r.First.Format(layout), r.Last.Format(layout)), jobsLine(r)}
	t := r.Total
	attempts := fmt.Sprintf("Attempts: %d, %d failed", t.Attempts, t.Failed)
	if t.Ignored > 0 {
		attempts += fmt.Sprintf(", %d of these did not count", t.Ignored)
	}
	if t.Stopped > 0 {
		attempts += fmt.Sprintf(", %d because their Job had ended", t.Stopped)
	}
	lines = append(lines, attempts)
	if t.Failed == 0 {
		return lines
	}
	lines = append(lines, fmt.Sprintf("Retried: %d of the failed attempts, %d of these recovered", t.Retried, t.Recovered),
		"Reserved by failed attempts: "+Hours(t.Hours))
	if t.VainAttempts > 0 {
		lines = append(lines, fmt.Sprintf("In vain: %s after a failure where none succeeded: %s",
			print.Plural(int(t.VainAttempts), "attempt"), Hours(t.VainHours)))
	}
	if r.WithoutRules > 0 {
		lines = append(lines, "Without rules, so that every failure counts: "+print.Plural(int(r.WithoutRules), "Job"))
	}
	return append(lines, effectLines(r.Effect)...)
}

func jobsLine(r *evidence.Report) string {
	var parts []string
	add := func(n int64, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(r.Jobs[evidence.Complete], "complete")
	add(r.Jobs[evidence.Failed], "failed")
	add(r.Jobs[evidence.Unfinished]-r.Unknown, "not finished")
	add(r.Unknown, "not in the input, so without verdicts")
	return "Jobs: " + strings.Join(parts, ", ")
}

// effectLines describes the changes by another policy.
func effectLines(e *evidence.Effect) []string {
	if e == nil {
		return nil
	}
	var changes []string
	for _, change := range slices.Sorted(maps.Keys(e.Changes)) {
		changes = append(changes, fmt.Sprintf("%d %s", e.Changes[change], change))
	}
	lines := []string{"With --policy, verdicts change: " + cmp.Or(strings.Join(changes, ", "), "none")}
	would := func(n int64, what, beside string) {
		if n > 0 {
			lines = append(lines, fmt.Sprintf("  %s: %d%s", what, n, beside))
		}
	}
	would(e.Jobs, "Jobs that would have failed earlier", "")
	would(e.Indexes, "indexes that would have failed earlier", "")
	would(e.Lost, "of these, Jobs that completed and indexes that succeeded", "")
	would(e.Ignored, "failures that would not have counted", "")
	would(e.Saved, "attempts that would not have begun", ", with "+Hours(evidence.HoursOf(e.Reserved)))
	return lines
}

func writeTable(out io.Writer, screen print.Screen, r *evidence.Report) error {
	w := print.NewTable(out, screen, false)
	for _, line := range summary(r) {
		text := strings.TrimLeft(line, " ")
		w.Paragraph(len(line)-len(text), print.Cell{Text: text})
	}
	if len(r.Causes) > 0 {
		w.Space()
		w.Heading("What the failures have in common", "")
	}
	for _, cause := range r.Causes {
		w.Paragraph(0, print.Cell{Text: cause.Text})
	}
	for _, part := range partsOf(r) {
		w.Space()
		rows := print.NewTable(out, screen, true, part.columns...)
		for _, row := range part.rows {
			rows.Row(row...)
		}
		if err := rows.Flush(); err != nil {
			return err
		}
		if part.more != "" {
			w.Line(part.more)
		}
	}
	return w.Flush()
}

func writeMarkdown(out io.Writer, r *evidence.Report) error {
	for _, line := range summary(r) {
		fmt.Fprintln(out, "- "+print.Markdown(strings.TrimSpace(line)))
	}
	for _, cause := range r.Causes {
		fmt.Fprintln(out, "- "+print.Markdown(cause.Text))
	}
	for _, part := range partsOf(r) {
		fmt.Fprintln(out)
		print.MarkdownTable(out, part.columns, "---:", part.rows)
		if part.more != "" {
			fmt.Fprintln(out, "\n"+part.more)
		}
	}
	return nil
}

// writeCSV writes a line for all attempts, and a line for each row of the sections. The line for the rest of a section has no value.
func writeCSV(out io.Writer, r *evidence.Report) error {
	w := csv.NewWriter(out)
	columns := resources(r.Total.Reserved)
	names := []string{"by", "value", "values", "attempts", "failed", "jobs", "completed", "ignored", "stopped", "retried", "recovered", "vainAttempts"}
	for _, name := range columns {
		names = append(names, "reserved "+string(name), "hours "+string(name), "vain "+string(name), "vainHours "+string(name))
	}
	line := func(by evidence.Dimension, values int, row *evidence.Row) []string {
		cells := []string{by, row.Value}
		for _, n := range []int64{int64(values), row.Attempts, row.Failed, row.Jobs, row.Completed, row.Ignored, row.Stopped, row.Retried, row.Recovered, row.VainAttempts} {
			cells = append(cells, strconv.FormatInt(n, 10))
		}
		for _, name := range columns {
			cells = append(cells, row.Reserved[name].String(), exactHours(row.Hours[name]), row.Vain[name].String(), exactHours(row.VainHours[name]))
		}
		return cells
	}
	all := [][]string{names, line("", 1, &r.Total)}
	for _, s := range r.Sections {
		for i := range s.Rows {
			all = append(all, line(s.By, 1, &s.Rows[i]))
		}
		if s.Rest != nil {
			all = append(all, line(s.By, s.More, s.Rest))
		}
	}
	return w.WriteAll(all)
}

func exactHours(hours float64) string { return strconv.FormatFloat(hours, 'f', -1, 64) }
