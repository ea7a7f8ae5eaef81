package report

import (
	"fmt"
	"io"

	"github.com/jstemmer/go-junit-report/v2/junit"
)

// writeJUnit writes a suite for every Job and a failed case for every finding; a Job without findings has one case
// that passed.
func (r Report) writeJUnit(w io.Writer) error {
	all := junit.Testsuites{Name: "podverdict " + r.Tool}
	for i, s := range r.Subjects {
		suite := junit.Testsuite{Name: s.title(), ID: i, File: s.File, Time: "0"}
		if len(s.Findings) == 0 {
			suite.AddTestcase(junit.Testcase{Name: r.Tool, Classname: s.title()})
		}
		for _, f := range s.Findings {
			suite.AddTestcase(junit.Testcase{
				Name: f.Check + " " + f.Field, Classname: s.title(),
				Failure: &junit.Result{
					Message: f.Message, Type: f.Severity,
					Data: fmt.Sprintf("%s: %s\n%s", f.At, sentence(f), line(f.Excerpt)),
				},
			})
		}
		all.AddSuite(suite)
	}
	if _, err := io.WriteString(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"); err != nil {
		return err
	}
	return all.WriteXML(w)
}
