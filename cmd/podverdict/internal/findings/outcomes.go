package findings

import (
	"fmt"
	"strings"

	"github.com/podverdict/podverdict/internal/testreport"
)

// outcomes returns a suite for each subject, and a failed case for each finding. A subject without findings has one case, which passed.
func (r Report) outcomes() testreport.Report {
	all := testreport.Report{Name: "podverdict check"}
	for _, s := range r.Subjects {
		suite := testreport.Suite{Name: s.title(), File: s.File}
		if len(s.Findings) == 0 {
			suite.Cases = append(suite.Cases, testreport.Case{Name: "check", Line: s.title()})
		}
		for _, f := range s.Findings {
			suite.Cases = append(suite.Cases, testreport.Case{
				Name: strings.TrimSpace(f.Check + " " + f.Field), Line: s.title() + ": " + f.Message, Failure: f.reason(),
			})
		}
		all.Suites = append(all.Suites, suite)
	}
	return all
}

func (f Finding) reason() *testreport.Reason {
	return &testreport.Reason{
		Message: f.Message, Type: f.Severity, Detail: fmt.Sprintf("%s: %s\n%s", f.At, sentence(f), line(f.Excerpt)),
		Facts: []testreport.Fact{
			{Name: "check", Value: f.Check},
			{Name: "severity", Value: f.Severity},
			{Name: "field", Value: fmt.Sprintf("%q", f.Field)},
			{Name: "at", Value: fmt.Sprintf("%q", f.At)},
			{Name: "hint", Value: fmt.Sprintf("%q", f.Hint)},
		},
	}
}
