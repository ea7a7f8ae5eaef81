package catalogue

import (
	"fmt"
	"io"
	"strings"
)

// WriteText writes a full description of a rule, for a terminal of 80 columns.
func (r Rule) WriteText(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n\n", r.ID, r.Title)
	for _, line := range []struct{ name, text string }{
		{"Severity", r.Severity}, {"Group", string(r.Group)}, {"Also called", strings.Join(r.Aliases, ", ")}, {"Field", r.Field}, {"Source", r.Source},
	} {
		if line.text != "" {
			fmt.Fprintf(w, "  %-12s %s\n", line.name+":", line.text)
		}
	}
	fmt.Fprintf(w, "\nWhy:\n%s\nFix:\n%s", wrapped(r.Why), wrapped(strings.ReplaceAll(r.Fix, "`", "")))
	for _, example := range []struct{ name, text string }{{"Before", r.Old}, {"Bad", r.Bad}, {"Good", r.Good}} {
		if example.text != "" {
			fmt.Fprintf(w, "\n%s:\n  %s\n", example.name, strings.ReplaceAll(strings.TrimRight(example.text, "\n"), "\n", "\n  "))
		}
	}
	if len(r.Parameters) > 0 {
		fmt.Fprintf(w, "\nParameters, under rules.%s in %s:\n", r.ID, ".podverdict.yaml")
		for _, p := range r.Parameters {
			fmt.Fprintf(w, "  %s: %s\n      %s\n", p.Name, p.Default, p.About)
		}
	}
}

// wrapped breaks a text into indented lines that fit a terminal of 80 columns.
func wrapped(text string) string {
	var b strings.Builder
	width := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case width == 0:
			b.WriteString("  ")
		case width+1+len(word) > 76:
			b.WriteString("\n  ")
			width = 0
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += len(word)
	}
	return b.String() + "\n"
}
