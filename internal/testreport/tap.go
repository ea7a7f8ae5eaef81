package testreport

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// WriteTAP writes version 13 of the Test Anything Protocol: a line for each case, followed by the facts if it failed.
func (r Report) WriteTAP(w io.Writer) error {
	var out bytes.Buffer
	n := 0
	for _, s := range r.Suites {
		for _, c := range s.Cases {
			n++
			line := tapText(cmp.Or(c.Line, s.Name+": "+c.Name))
			switch why := cmp.Or(c.Failure, c.Error); {
			case why != nil:
				fmt.Fprintf(&out, "not ok %d - %s\n", n, line)
				why.writeFacts(&out)
			case c.Skipped != nil:
				fmt.Fprintf(&out, "ok %d - %s # SKIP %s\n", n, line, tapText(c.Skipped.Message))
			default:
				fmt.Fprintf(&out, "ok %d - %s\n", n, line)
			}
		}
	}
	_, err := fmt.Fprintf(w, "TAP version 13\n1..%d\n%s", n, out.Bytes())
	return err
}

func (r *Reason) writeFacts(out *bytes.Buffer) {
	facts := r.Facts
	if facts == nil {
		facts = []Fact{{"message", fmt.Sprintf("%q", r.Message)}, {"detail", fmt.Sprintf("%q", r.Detail)}}
	}
	out.WriteString("  ---\n")
	for _, f := range facts {
		fmt.Fprintf(out, "  %s: %s\n", printed(f.Name), printed(f.Value))
	}
	out.WriteString("  ...\n")
}

// tapText escapes a description, so that it stays on one line, contains no directive and cannot control a terminal.
func tapText(text string) string {
	return strings.ReplaceAll(printed(strings.NewReplacer("\n", " ", "\r", " ").Replace(text)), "#", `\#`)
}

// printed replaces unprintable characters, including line ends.
func printed(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
