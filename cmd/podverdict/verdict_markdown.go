package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/table"
	"github.com/podverdict/podverdict/internal/terminal"
)

// verdictMarkdown writes verdicts as Markdown, for the comments of a pull request.
type verdictMarkdown struct {
	out     io.Writer
	columns []verdictColumn
	items   []verdictItem
}

func newVerdictMarkdown(out io.Writer) *verdictMarkdown {
	return &verdictMarkdown{out: out, columns: verdictLayout{grouped: true}.columns()}
}

func (m *verdictMarkdown) add(item verdictItem) { m.items = append(m.items, item) }

func (m *verdictMarkdown) endJob(job jobItem) error {
	fmt.Fprintf(m.out, "### %s\n\n", markdown(job.heading()))
	if outlook := job.String(); outlook != "" {
		fmt.Fprintln(m.out, markdown(outlook)+"\n")
	}
	if job.JobSet != nil {
		fmt.Fprintln(m.out, markdown(job.JobSet.line())+"\n")
	}
	if len(m.items) == 0 {
		return nil
	}
	rows := make([][]table.Cell, len(m.items))
	for i, item := range m.items {
		rows[i] = cells(m.columns, item)
	}
	markdownTable(m.out, tableColumns(m.columns), "---", rows)
	m.items = m.items[:0]
	_, err := fmt.Fprintln(m.out)
	return err
}

// markdownTable writes a table. The mark says how all columns but the first are aligned.
func markdownTable(out io.Writer, columns []table.Column, mark string, rows [][]table.Cell) {
	write := func(texts []string) { fmt.Fprintln(out, "| "+strings.Join(texts, " | ")+" |") }
	texts, marks := make([]string, len(columns)), slices.Repeat([]string{mark}, len(columns))
	for i, column := range columns {
		texts[i] = column.Name
	}
	marks[0] = "---"
	write(texts)
	write(marks)
	for _, row := range rows {
		for i, cell := range row {
			texts[i] = markdown(cell.Text)
		}
		write(texts)
	}
}

func (m *verdictMarkdown) end(total tally) error {
	for _, line := range total.lines() {
		if _, err := fmt.Fprintln(m.out, markdown(line)); err != nil {
			return err
		}
	}
	return nil
}

// markdownEscapes keep the words of others from being taken for Markdown, HTML, or the name of somebody to notify.
var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "~", `\~`, "#", `\#`, "!", `\!`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "@", "&#64;", "://", "&#58;//", "www.", "www&#46;",
)

// markdown returns a text as a cell, which has one line.
func markdown(text string) string { return markdownEscapes.Replace(terminal.Line(text)) }
