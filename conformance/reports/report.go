package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"
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

// Count returns the number of vectors that came to an outcome.
func (r Report) Count(o Outcome) int {
	n := 0
	for _, result := range r.Results {
		if result.Outcome == o {
			n++
		}
	}
	return n
}

// Outcome is what a vector came to.
type Outcome string

// The outcomes. Failed, Errored and Unexpected are failures of the run.
const (
	Passed       Outcome = "passed"
	Failed       Outcome = "failed"           // another verdict than the wanted one
	Errored      Outcome = "error"            // no verdict
	Expected     Outcome = "expected failure" // failed or error, and known to
	Unexpected   Outcome = "unexpected pass"  // passed, but an expected failure
	NotSupported Outcome = "not supported"    // not asked
)

// OK reports whether the outcome is no failure of the run.
func (o Outcome) OK() bool { return o == Passed || o == Expected || o == NotSupported }

// Result is what one vector came to.
type Result struct {
	Name      string // topic/reason
	Sentence  string // what the vector proves
	KEP       string // the section of the KEP that asks for it
	Semantics []string
	Features  []string // what the vector needs from an engine

	Outcome Outcome
	// Detail says why the outcome is what it is, over several lines; it is empty
	// for Passed.
	Detail   string
	Duration time.Duration
}

func outcomes() []Outcome {
	return []Outcome{Passed, Failed, Errored, Unexpected, Expected, NotSupported}
}

// Summary returns the counts in a line, like "cel: 140 passed, 2 failed".
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
