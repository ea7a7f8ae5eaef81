package suites

import (
	"fmt"
	"io"
	"slices"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
)

// Report holds the results of suites.
type Report struct {
	Results []Result
	// Verbose also lists the cases that pass. Coverage lists the rules and how often each was tried. Both affect only
	// the pretty format.
	Verbose, Coverage bool
}

// Formats returns the names of the formats, the default first.
func Formats() []string { return []string{"pretty", "json", "junit", "tap"} }

// Write writes the report in one of the Formats.
func (r Report) Write(w io.Writer, format string) error {
	switch format {
	case "pretty":
		return r.writeText(w)
	case "json":
		return print.JSON(w, testReport{apiVersion, "TestReport", r.OK(), r.count(), r.Results})
	case "junit":
		return r.outcomes().WriteJUnit(w)
	case "tap":
		return r.outcomes().WriteTAP(w)
	}
	return fmt.Errorf("no report format %q, there are %q", format, Formats())
}

// OK reports whether all suites passed.
func (r Report) OK() bool {
	return !slices.ContainsFunc(r.Results, func(result Result) bool { return !result.OK })
}

// count counts the suites and cases that pass and fail.
func (r Report) count() (c counts) {
	for i := range r.Results {
		c.Suites++
		if !r.Results[i].OK {
			c.FailedSuites++
		}
		c.Cases += len(r.Results[i].Cases)
		c.Passed += r.Results[i].count(func(result *CaseResult) bool { return result.OK })
	}
	c.Failed = c.Cases - c.Passed
	return c
}

// testReport is the JSON form of a Report. It is a stable format for other programs.
type testReport struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	OK         bool     `json:"ok"`
	Counts     counts   `json:"counts"`
	Suites     []Result `json:"suites"`
}

type counts struct {
	Suites       int `json:"suites"`
	FailedSuites int `json:"failedSuites"`
	Cases        int `json:"cases"`
	Passed       int `json:"passed"`
	Failed       int `json:"failed"`
}
