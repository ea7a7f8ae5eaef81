package main

import (
	"bytes"
	"fmt"
	"time"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
)

// livePage writes each verdict at once.
type livePage struct {
	printing

	table *verdictTable
}

// live returns a page for verdicts that have no end. Their ages are those at the time that now returns.
func (p printing) live(now func() time.Time) *livePage {
	return &livePage{p, p.table(verdictLayout{now: now})}
}

// verdictEvent is a verdict that stands alone, as JSON and YAML.
type verdictEvent struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	verdictItem
}

// write writes a verdict: as JSON on a line, as a YAML document, or as a row of the table.
func (p *livePage) write(item verdictItem) error {
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
		if err := p.Format.WriteObject(&text, verdictEvent{print.APIVersion, "Verdict", item}); err != nil {
			return err
		}
		_, err := text.WriteTo(p.Out)
		return err
	}
	p.table.add(item)
	return p.table.endJob(jobItem{Job: item.Job})
}
