package suites

import (
	"fmt"
	"strings"

	"github.com/podverdict/podverdict/internal/testreport"
)

// outcomes returns the report for CI systems. An error of a suite becomes a test case of its own.
func (r Report) outcomes() testreport.Report {
	all := testreport.Report{Name: "podverdict test"}
	for i := range r.Results {
		s := &r.Results[i]
		written := testreport.Suite{Name: s.Name, File: s.File}
		for i := range s.Cases {
			written.Cases = append(written.Cases, s.Cases[i].outcome(s.File))
		}
		for _, text := range s.Errors {
			written.Cases = append(written.Cases, testreport.Case{Name: "suite", Error: &testreport.Reason{Message: text, Type: "error"}})
		}
		for _, fault := range s.Faults {
			why := &testreport.Reason{Message: fault, Type: "suite"}
			if s.Coverage != nil && s.Coverage.isTooLow() {
				why.Detail = strings.Join(s.Coverage.Missing(), "\n")
			}
			written.Cases = append(written.Cases, testreport.Case{Name: "suite", Failure: why})
		}
		all.Suites = append(all.Suites, written)
	}
	return all
}

func (c *CaseResult) outcome(file string) testreport.Case {
	written := testreport.Case{Name: c.Name}
	if c.OK {
		return written
	}
	var differences []string
	why := &testreport.Reason{Type: "verdict", Detail: fmt.Sprintf("%s:%d\n%s", file, c.Line, c.detail())}
	why.Facts = []testreport.Fact{{Name: "at", Value: fmt.Sprintf("%q", fmt.Sprintf("%s:%d", file, c.Line))}}
	for _, d := range c.Differences {
		text := fmt.Sprintf("want %s, got %s", d.Want, d.Got)
		differences = append(differences, d.Field+": "+text)
		why.Facts = append(why.Facts, testreport.Fact{Name: d.Field, Value: fmt.Sprintf("%q", text)})
	}
	why.Facts = append(why.Facts, testreport.Fact{Name: "detail", Value: fmt.Sprintf("%q", c.detail())})
	why.Message, written.Failure = strings.Join(differences, "; "), why
	return written
}
