package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// SemanticsURL is the address of the document that defines the items in Result.Semantics.
const SemanticsURL = "https://github.com/podverdict/podverdict/blob/main/conformance/SEMANTICS.md"

// Report has the results of a run, in the order of the vectors.
type Report struct {
	Engine  string
	Results []Result
}

// OK reports whether no vector failed.
func (r Report) OK() bool {
	return !slices.ContainsFunc(r.Results, func(result Result) bool { return !result.Outcome.OK() })
}

// Count returns the number of vectors with an outcome.
func (r Report) Count(o Outcome) int {
	n := 0
	for _, result := range r.Results {
		if result.Outcome == o {
			n++
		}
	}
	return n
}

// Outcome is the result of a vector.
type Outcome string

// The outcomes. Failed, Errored and Unexpected make the run fail.
const (
	Passed       Outcome = "passed"
	Failed       Outcome = "failed"           // not the expected verdict
	Errored      Outcome = "error"            // no verdict
	Expected     Outcome = "expected failure" // failed or error, as expected
	Unexpected   Outcome = "unexpected pass"  // passed, against expectation
	NotSupported Outcome = "not supported"    // not asked
)

// OK reports whether the outcome does not make the run fail.
func (o Outcome) OK() bool { return o == Passed || o == Expected || o == NotSupported }

// Result describes the result of one vector.
type Result struct {
	Name      string   // topic/reason
	Sentence  string   // what the vector tests
	KEP       string   // the section of the KEP that requires it
	Semantics []string // items of SEMANTICS.md, such as A.2
	Features  []string // what the vector needs from an engine

	Outcome Outcome
	// Detail explains the outcome, in several lines; it is empty for Passed.
	Detail   string
	Duration time.Duration
}

func outcomes() []Outcome {
	return []Outcome{Passed, Failed, Errored, Unexpected, Expected, NotSupported}
}

// Summary returns the counts in a line, such as "cel: 140 passed, 2 failed".
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
