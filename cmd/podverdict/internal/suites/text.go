package suites

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/internal/terminal"
	"github.com/podverdict/podverdict/runtime"
)

// writeText writes a line for every suite, followed by its failures.
func (r Report) writeText(w io.Writer) error {
	var out bytes.Buffer
	for i := range r.Results {
		r.writeSuite(&out, &r.Results[i])
	}
	c := r.count()
	fmt.Fprintf(&out, "\n%s in %s: %d passed, %d failed\n", print.Plural(c.Cases, "case"), print.Plural(c.Suites, "suite"), c.Passed, c.Failed)
	_, err := out.WriteTo(w)
	return err
}

func (r Report) writeSuite(out *bytes.Buffer, s *Result) {
	word := "ok  "
	if !s.OK {
		word = "FAIL"
	}
	fmt.Fprintf(out, "%s  %s  %s  %s", word, terminal.Line(s.Name), terminal.Line(s.File), print.Plural(len(s.Cases), "case"))
	if s.Err != nil {
		out.WriteString("  with errors") // printed separately with the source lines
	}
	if s.Coverage != nil && len(s.Coverage.Rules) > 0 {
		fmt.Fprintf(out, "  coverage %d%%", s.Coverage.Percent())
	}
	out.WriteByte('\n')
	for _, fault := range s.Faults {
		out.WriteString(indented(fault, "    "))
	}
	if s.Coverage != nil && s.Coverage.isTooLow() && !r.Coverage {
		for _, missing := range s.Coverage.Missing() {
			fmt.Fprintf(out, "      %s\n", terminal.Line(missing))
		}
	}
	if n := s.count(func(c *CaseResult) bool { return c.ManagedOnly }); n > 0 {
		fmt.Fprintf(out, "    only a Job with managedBy: %s gets %d of the verdicts\n", v1alpha1.JobController, n)
	}
	for i := range s.Cases {
		r.writeCase(out, s, &s.Cases[i])
	}
	if r.Coverage && s.Coverage != nil {
		s.Coverage.write(out)
	}
}

func (r Report) writeCase(out *bytes.Buffer, s *Result, c *CaseResult) {
	if c.OK {
		if r.Verbose {
			fmt.Fprintf(out, "    ok    %s\n", terminal.Line(c.Name+": "+sentence(c)))
		}
		return
	}
	fmt.Fprintf(out, "    FAIL  %s\n", terminal.Line(fmt.Sprintf("%s (%s:%d)", c.Name, s.File, c.Line)))
	fmt.Fprint(out, indented(c.detail(), "          "))
}

// detail describes the differences and the outcomes of the rules.
func (c *CaseResult) detail() string {
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 8, 2, ' ', 0)
	for _, d := range c.Differences {
		fmt.Fprintf(table, "%s:\twant %s\n\tgot  %s\n", terminal.Line(d.Field), terminal.Line(d.Want), terminal.Line(d.Got))
	}
	_ = table.Flush() // a Builder never fails
	fmt.Fprintf(&out, "verdict: %s\n", terminal.Line(sentence(c)))
	for i := range c.Rules {
		rule := &c.Rules[i]
		if rule.Outcome == runtime.OutcomeNotReached && !rule.holds {
			continue
		}
		fmt.Fprintln(&out, terminal.Line(fmt.Sprintf("%s: %s: %s", rule.Subject(), rule.Outcome, cmp.Or(rule.Error, rule.Because))))
	}
	return out.String()
}

func sentence(c *CaseResult) string {
	v := &c.Verdict
	switch {
	case v.Err != nil && !v.Matched:
		return fmt.Sprintf("%s, because of an error", v.Action)
	case v.Matched:
		text := fmt.Sprintf("%s by %s", v.Action, v.Subject())
		if v.IsUsedUp() {
			text += ", its budget being used up"
		}
		if c.Ended {
			text += ", and the Pod is ended"
		}
		if c.Spared != "" {
			text += ", but the Pod is not ended: " + c.Spared
		}
		return text
	case v.Terminal:
		return fmt.Sprintf("%s, no rule matches", v.Action)
	}
	return "none"
}

// write writes a table with the counts of each rule.
func (c *Coverage) write(out *bytes.Buffer) {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "RULE\tMATCHED\tNOT MATCHED")
	for i := range c.Rules {
		r := &c.Rules[i]
		not := strconv.Itoa(r.NotMatched)
		if r.Always {
			not = "-"
		}
		fmt.Fprintf(table, "%s\t%d\t%s\n", terminal.Line(r.Subject()), r.Matched, not)
	}
	_ = table.Flush() // a Builder never fails
	out.WriteString(indented(text.String(), "    "))
}

func indented(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+by) + "\n"
}
