package suite

import (
	"fmt"
	"io"
	"slices"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
)

// Report has the results of suites.
type Report struct {
	Results []Result
	// Verbose lists the cases that hold, too, and Coverage the rules and how often each was tried. Both are for people.
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
		return r.writeJSON(w)
	case "junit":
		return r.outcomes().WriteJUnit(w)
	case "tap":
		return r.outcomes().WriteTAP(w)
	}
	return fmt.Errorf("no report format %q, there are %q", format, Formats())
}

// OK reports whether everything is as expected.
func (r Report) OK() bool {
	return !slices.ContainsFunc(r.Results, func(result Result) bool { return !result.OK() })
}

// count counts the suites and cases that pass and fail.
func (r Report) count() (c counts) {
	for i := range r.Results {
		c.Suites++
		if !r.Results[i].OK() {
			c.FailedSuites++
		}
		c.Passed += r.Results[i].Count(true)
		c.Failed += r.Results[i].Count(false)
	}
	c.Cases = c.Passed + c.Failed
	return c
}

type counts struct {
	Suites       int `json:"suites"`
	FailedSuites int `json:"failedSuites"`
	Cases        int `json:"cases"`
	Passed       int `json:"passed"`
	Failed       int `json:"failed"`
}

// errors returns the errors of Err, one by one.
func (r *Result) errors() []string {
	var all []string
	for _, err := range manifest.EachError(r.Err) {
		all = append(all, err.Error())
	}
	return all
}

// faults says what is wrong besides cases.
func (r *Result) faults() []string {
	var all []string
	if r.Empty {
		all = append(all, "there are no cases")
	}
	if r.Uncovered() {
		all = append(all, fmt.Sprintf("coverage is %d%%, and should be %d%%", r.Coverage.Percent(), r.Threshold))
	}
	return all
}
