package verdicts

import (
	"fmt"
	"io"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
)

// markdown writes verdicts as Markdown for pull request comments.
type markdown struct {
	out     io.Writer
	columns []print.Column
	rows    func([]Item) [][]print.Cell
	items   []Item
}

func newMarkdown(out io.Writer) *markdown {
	columns := layout{grouped: true}.columns()
	rows := func(items []Item) (rows [][]print.Cell) {
		for _, item := range items {
			rows = append(rows, cells(columns, item))
		}
		return rows
	}
	return &markdown{out: out, columns: tableColumns(columns), rows: rows}
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
	print.MarkdownTable(m.out, m.columns, "---", m.rows(m.items))
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
