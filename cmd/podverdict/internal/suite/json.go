package suite

import (
	"io"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
	"github.com/podverdict/podverdict/runtime"
)

// testReport is the JSON form of a Report; a contract with other programs.
type testReport struct {
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	OK         bool        `json:"ok"`
	Counts     counts      `json:"counts"`
	Suites     []jsonSuite `json:"suites"`
}

type jsonSuite struct {
	Name     string        `json:"name"`
	File     string        `json:"file"`
	OK       bool          `json:"ok"`
	Errors   []string      `json:"errors,omitempty"`
	Faults   []string      `json:"faults,omitempty"`
	Cases    []jsonCase    `json:"cases"`
	Coverage *jsonCoverage `json:"coverage,omitempty"`
}

type jsonCase struct {
	Name        string          `json:"name"`
	OK          bool            `json:"ok"`
	Line        int             `json:"line,omitempty"`
	Verdict     runtime.Verdict `json:"verdict"`
	Deleted     bool            `json:"deleted,omitempty"`
	ManagedOnly bool            `json:"managedOnly,omitempty"`
	Differences []Difference    `json:"differences,omitempty"`
	Rules       []jsonRule      `json:"rules,omitempty"`
}

type jsonRule struct {
	Policy  string          `json:"policy,omitempty"`
	Rule    int             `json:"rule"`
	Name    string          `json:"ruleName,omitempty"`
	Outcome runtime.Outcome `json:"outcome"`
	Because string          `json:"because"`
	Error   string          `json:"error,omitempty"`
}

type jsonCoverage struct {
	Percent   int            `json:"percent"`
	Covered   int            `json:"covered"`
	Total     int            `json:"total"`
	Threshold int            `json:"threshold"`
	Rules     []RuleCoverage `json:"rules"`
}

func (r Report) writeJSON(w io.Writer) error {
	all := testReport{APIVersion: apiVersion, Kind: "TestReport", OK: r.OK(), Counts: r.count(), Suites: []jsonSuite{}}
	for i := range r.Results {
		all.Suites = append(all.Suites, r.Results[i].json())
	}
	return report.WriteJSON(w, all)
}

func (r *Result) json() jsonSuite {
	s := jsonSuite{Name: r.Name, File: r.File, OK: r.OK(), Errors: r.errors(), Faults: r.faults(), Cases: []jsonCase{}}
	for i := range r.Cases {
		c := &r.Cases[i]
		written := jsonCase{
			Name: c.Name, OK: c.OK(), Line: c.Line, Verdict: c.Verdict, Deleted: c.Deleted, ManagedOnly: c.ManagedOnly, Differences: c.Differences,
		}
		for i := range c.Rules {
			rule := &c.Rules[i]
			written.Rules = append(written.Rules, jsonRule{
				rule.Policy, rule.Rule, rule.RuleName, rule.Outcome, rule.Because, rule.Error,
			})
		}
		s.Cases = append(s.Cases, written)
	}
	if r.Coverage != nil {
		s.Coverage = r.Coverage.json(r.Threshold)
	}
	return s
}

func (c *Coverage) json(threshold int) *jsonCoverage {
	covered, total := c.Covered()
	return &jsonCoverage{
		Percent: c.Percent(), Covered: covered, Total: total, Threshold: threshold, Rules: append([]RuleCoverage{}, c.Rules...),
	}
}
