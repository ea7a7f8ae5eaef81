package conformance

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/podverdict/podverdict/internal/outcome"
	"github.com/podverdict/podverdict/internal/terminal"
	"github.com/podverdict/podverdict/runtime"
)

// Report is what a run came to, vector by vector in their order.
type Report struct {
	Engine  string
	Results []Result
}

// OK reports whether no vector failed.
func (r Report) OK() bool {
	return !slices.ContainsFunc(r.Results, func(result Result) bool { return !result.Outcome.OK() })
}

// Count is the number of vectors that came to an outcome.
func (r Report) Count(o Outcome) int {
	n := 0
	for _, result := range r.Results {
		if result.Outcome == o {
			n++
		}
	}
	return n
}

func outcomes() []Outcome {
	return []Outcome{Passed, Failed, Errored, Unexpected, Expected, NotSupported}
}

// Summary is the counts in a line, like "cel: 140 passed, 2 failed".
func (r Report) Summary() string {
	var counts []string
	for _, o := range outcomes() {
		if n := r.Count(o); n > 0 || o == Passed {
			counts = append(counts, fmt.Sprintf("%d %s", n, o))
		}
	}
	if r.Engine == "" {
		return strings.Join(counts, ", ")
	}
	return r.Engine + ": " + strings.Join(counts, ", ")
}

// WriteTable writes the vectors that did not pass, each with why, then a row for
// every topic, then the summary. What an engine said is escaped where it cannot be
// printed.
func (r Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	for _, result := range r.Results {
		if !result.Outcome.OK() {
			fmt.Fprintf(&b, "%s: %s\n    %s\n%s\n\n", strings.ToUpper(string(result.Outcome)), result.Vector.Name,
				result.Vector.Sentence, indented(terminal.Lines(result.Detail)))
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

func indented(text string) string {
	return "    " + strings.ReplaceAll(text, "\n", "\n    ")
}

// topic is the part of a report that is about one folder of vectors.
type topic struct {
	name string
	Report
}

func (r Report) topics() []topic {
	var topics []topic
	for _, result := range r.Results {
		name, _, _ := strings.Cut(result.Vector.Name, "/")
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
	Name      string    `json:"name"`
	Outcome   Outcome   `json:"outcome"`
	Sentence  string    `json:"sentence"`
	KEP       string    `json:"kep"`
	Semantics []string  `json:"semantics,omitempty"`
	Features  []Feature `json:"features"`
	Detail    string    `json:"detail,omitempty"`
}

// WriteJSON writes the report as an object of kind ConformanceReport. It has no
// times: the same engine makes the same bytes.
func (r Report) WriteJSON(w io.Writer) error {
	out := jsonReport{
		APIVersion: "podverdict.io/v1alpha1", Kind: "ConformanceReport", Engine: r.Engine, OK: r.OK(),
		Counts: map[Outcome]int{}, Results: make([]jsonResult, len(r.Results)),
	}
	for i, result := range r.Results {
		v := result.Vector
		out.Counts[result.Outcome]++
		out.Results[i] = jsonResult{v.Name, result.Outcome, v.Sentence, v.KEP, v.Semantics, v.Features, result.Detail}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(out)
}

// WriteJUnit writes the report as JUnit XML, a suite for every topic.
func (r Report) WriteJUnit(w io.Writer) error {
	all := outcome.Report{Name: r.Engine}
	for _, t := range r.topics() {
		suite := outcome.Suite{Name: t.name}
		for _, result := range t.Results {
			suite.Cases = append(suite.Cases, testcase(t.name, result))
		}
		all.Suites = append(all.Suites, suite)
	}
	return all.WriteJUnit(w)
}

func testcase(topic string, r Result) outcome.Case {
	c := outcome.Case{Name: strings.TrimPrefix(r.Vector.Name, topic+"/"), Duration: r.Duration}
	why := &outcome.Reason{Message: r.Vector.Sentence, Type: string(r.Outcome), Detail: r.Detail}
	switch r.Outcome {
	case Passed:
	case Failed, Unexpected:
		c.Failure = why
	case Errored:
		c.Error = why
	case Expected, NotSupported:
		c.Skipped = &outcome.Reason{Message: string(r.Outcome) + ": " + r.Detail}
	}
	return c
}

// difference lists the fields of the JSON form in which two verdicts differ.
func difference(got, want runtime.Verdict) string {
	g, w := members(got), members(want)
	var lines []string
	for _, field := range []string{
		"terminal", "matched", "action", "counted", "rule", "ruleName", "container", "exitCode", "condition", "message", "error",
	} {
		if g[field] != w[field] {
			lines = append(lines, fmt.Sprintf("%s:\n  got  %s\n  want %s", field, orAbsent(g[field]), orAbsent(w[field])))
		}
	}
	return strings.Join(lines, "\n")
}

// members is the JSON form of a verdict, value by field.
func members(v runtime.Verdict) map[string]string {
	var raw map[string]json.RawMessage
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &raw)
	}
	fields := map[string]string{}
	for name, value := range raw {
		fields[name] = string(value)
	}
	if err != nil {
		fields["error"] = err.Error()
	}
	return fields
}

func orAbsent(value string) string {
	if value == "" {
		return "(absent)"
	}
	return value
}
