package main

import (
	"fmt"
	"io"
	"strings"

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
	rule := make([]string, len(m.columns))
	row := make([]string, len(m.columns))
	for i, column := range m.columns {
		row[i], rule[i] = column.Name, "---"
	}
	m.row(row)
	m.row(rule)
	for _, item := range m.items {
		for i, cell := range cells(m.columns, item) {
			row[i] = markdown(cell.Text)
		}
		m.row(row)
	}
	m.items = m.items[:0]
	_, err := fmt.Fprintln(m.out)
	return err
}

func (m *verdictMarkdown) row(cells []string) {
	fmt.Fprintln(m.out, "| "+strings.Join(cells, " | ")+" |")
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
