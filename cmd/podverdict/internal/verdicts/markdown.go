package verdicts

import (
	"fmt"
	"io"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
)

// markdown writes verdicts as Markdown, for the comments of a pull request.
type markdown struct {
	out     io.Writer
	columns []column
	items   []Item
}

func newMarkdown(out io.Writer) *markdown {
	return &markdown{out: out, columns: layout{grouped: true}.columns()}
}

func (m *markdown) add(item Item) { m.items = append(m.items, item) }

func (m *markdown) endJob(job JobItem) error {
	fmt.Fprintf(m.out, "### %s\n\n", print.Markdown(job.heading()))
	if outlook := job.String(); outlook != "" {
		fmt.Fprintln(m.out, print.Markdown(outlook)+"\n")
	}
	if job.JobSet != nil {
		fmt.Fprintln(m.out, print.Markdown(job.JobSet.line())+"\n")
	}
	if len(m.items) == 0 {
		return nil
	}
	rows := make([][]print.Cell, len(m.items))
	for i, item := range m.items {
		rows[i] = cells(m.columns, item)
	}
	print.MarkdownTable(m.out, tableColumns(m.columns), "---", rows)
	m.items = m.items[:0]
	_, err := fmt.Fprintln(m.out)
	return err
}

func (m *markdown) end(total tally) error {
	for _, line := range total.lines() {
		if _, err := fmt.Fprintln(m.out, print.Markdown(line)); err != nil {
			return err
		}
	}
	return nil
}
