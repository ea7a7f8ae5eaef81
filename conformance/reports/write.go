package reports

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/podverdict/podverdict/internal/terminal"
	"github.com/podverdict/podverdict/internal/testreport"
)

// WriteTable writes the vectors that did not pass, with the reasons and the items of the semantics that they test, then a row for
// every topic, then the summary. It escapes unprintable characters in answers.
func (r Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	for _, result := range r.Results {
		if !result.Outcome.OK() {
			fmt.Fprintf(&b, "%s: %s\n    %s\n%s\n\n", strings.ToUpper(string(result.Outcome)), result.Name,
				result.Sentence+cited(result.Semantics), indented(terminal.Lines(result.Detail)))
		}
	}
	table := tabwriter.NewWriter(&b, 0, 8, 3, ' ', 0)
	fmt.Fprintln(table, "TOPIC\tPASSED\tOTHER\tNOT SUPPORTED")
	for _, t := range r.topics() {
		passed, skipped := t.Count(Passed), t.Count(NotSupported)
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\n", t.name, passed, len(t.Results)-passed-skipped, skipped)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(&b, "\n%s\n", r.Summary())
	_, err := io.WriteString(w, b.String())
	return err
}

// cited returns a line with the address of each item of the semantics.
func cited(items []string) string {
	if len(items) == 0 {
		return ""
	}
	addresses := make([]string, len(items))
	for i, item := range items {
		addresses[i] = SemanticsURL + "#" + strings.ToLower(strings.ReplaceAll(item, ".", ""))
	}
	return "\n    See " + strings.Join(addresses, ", ")
}

func indented(text string) string {
	return "    " + strings.ReplaceAll(text, "\n", "\n    ")
}

// topic is the part of a report about one folder of vectors.
type topic struct {
	name string
	Report
}

func (r Report) topics() []topic {
	var topics []topic
	for _, result := range r.Results {
		name, _, _ := strings.Cut(result.Name, "/")
		if n := len(topics); n == 0 || topics[n-1].name != name {
			topics = append(topics, topic{name: name})
		}
		last := &topics[len(topics)-1]
		last.Results = append(last.Results, result)
	}
	return topics
}

type jsonReport struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Engine     string          `json:"engine,omitempty"`
	OK         bool            `json:"ok"`
	Counts     map[Outcome]int `json:"counts"`
	Results    []jsonResult    `json:"results"`
}

type jsonResult struct {
	Name      string   `json:"name"`
	Outcome   Outcome  `json:"outcome"`
	Sentence  string   `json:"sentence"`
	KEP       string   `json:"kep"`
	Semantics []string `json:"semantics,omitempty"`
	Features  []string `json:"features"`
	Detail    string   `json:"detail,omitempty"`
}

// WriteJSON writes the report as an object of kind ConformanceReport. It has no times, so the same results give the same
// bytes.
func (r Report) WriteJSON(w io.Writer) error {
	out := jsonReport{
		APIVersion: "podverdict.io/v1alpha1", Kind: "ConformanceReport", Engine: r.Engine, OK: r.OK(),
		Counts: map[Outcome]int{}, Results: make([]jsonResult, len(r.Results)),
	}
	for i, result := range r.Results {
		out.Counts[result.Outcome]++
		out.Results[i] = jsonResult{
			result.Name, result.Outcome, result.Sentence, result.KEP, result.Semantics, result.Features, result.Detail,
		}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(out)
}

// WriteJUnit writes the report as JUnit XML, with a suite for every topic.
func (r Report) WriteJUnit(w io.Writer) error {
	all := testreport.Report{Name: r.Engine}
	for _, t := range r.topics() {
		suite := testreport.Suite{Name: t.name}
		for _, result := range t.Results {
			suite.Cases = append(suite.Cases, testcase(t.name, result))
		}
		all.Suites = append(all.Suites, suite)
	}
	return all.WriteJUnit(w)
}

func testcase(topic string, r Result) testreport.Case {
	c := testreport.Case{Name: strings.TrimPrefix(r.Name, topic+"/"), Duration: r.Duration}
	why := &testreport.Reason{Message: r.Sentence, Type: string(r.Outcome), Detail: r.Detail}
	switch r.Outcome {
	case Passed:
	case Failed, Unexpected:
		c.Failure = why
	case Errored:
		c.Error = why
	case Expected, NotSupported:
		c.Skipped = &testreport.Reason{Message: string(r.Outcome) + ": " + r.Detail}
	}
	return c
}
