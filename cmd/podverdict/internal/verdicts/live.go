package verdicts

import (
	"bytes"
	"fmt"
	"time"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
)

// LivePage writes each verdict immediately.
type LivePage struct {
	Printing

	table *table
}

// Live returns a page for an endless stream of verdicts. Ages are relative to the time that now returns.
func (p Printing) Live(now func() time.Time) *LivePage {
	return &LivePage{p, p.newTable(layout{now: now})}
}

// event is a single verdict outside a list, as JSON or YAML.
type event struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Item
}

// Write writes a verdict: as JSON on one line, as a YAML document, or as a table row.
func (p *LivePage) Write(item Item) error {
	switch {
	case p.Format.Name == "json", p.Format.Name == "ndjson":
		return writeLine(p.Out, item)
	case p.Format.Name == "name":
		_, err := fmt.Fprintln(p.Out, "pod/"+item.Pod.Name)
		return err
	case p.Format.IsObject():
		var text bytes.Buffer
		if p.Format.Name == "yaml" {
			text.WriteString("---\n")
		}
		if err := p.Format.WriteObject(&text, event{print.APIVersion, "Verdict", item}); err != nil {
			return err
		}
		_, err := text.WriteTo(p.Out)
		return err
	}
	p.table.add(item)
	return p.table.endJob(JobItem{Job: item.Job})
}
