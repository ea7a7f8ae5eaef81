package testreport

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/jstemmer/go-junit-report/v2/junit"
)

// WriteJUnit writes the report as JUnit XML.
func (r Report) WriteJUnit(w io.Writer) error {
	all := junit.Testsuites{Name: printable(r.Name)}
	for i, s := range r.Suites {
		suite := junit.Testsuite{Name: printable(s.Name), ID: i, File: s.File, Time: "0"}
		for _, c := range s.Cases {
			written := junit.Testcase{
				Name: printable(c.Name), Classname: suite.Name,
				Failure: c.Failure.junit(), Error: c.Error.junit(), Skipped: c.Skipped.junit(),
			}
			if c.Duration > 0 {
				written.Time = fmt.Sprintf("%.6f", c.Duration.Seconds())
			}
			suite.AddTestcase(written)
		}
		all.AddSuite(suite)
	}
	if _, err := io.WriteString(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"); err != nil {
		return err
	}
	return all.WriteXML(w)
}

func (r *Reason) junit() *junit.Result {
	if r == nil {
		return nil
	}
	return &junit.Result{Message: printable(r.Message), Type: printable(r.Type), Data: printable(r.Detail)}
}

// printable replaces characters that XML cannot represent.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == utf8.RuneError || r == 0xFFFE || r == 0xFFFF {
			return utf8.RuneError
		}
		return r
	}, text)
}
