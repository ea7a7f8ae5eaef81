package findings

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/internal/terminal"
)

// writeText writes findings in the format of compilers, so that editors can jump to them. On a terminal, long lines continue in the next
// line.
func (r Report) writeText(w io.Writer) error {
	var out bytes.Buffer
	t := print.NewTable(&out, r.Screen, false)
	write := func(indent int, text string) {
		if r.Screen.Width > 0 {
			t.Paragraph(indent, print.Cell{Text: text})
		} else {
			t.Line(strings.Repeat(" ", indent) + text)
		}
	}
	for _, s := range r.Subjects {
		for _, f := range s.Findings {
			text := fmt.Sprintf("%s: %s [%s]", f.Severity, f.sentence(), f.Check)
			if f.At.File != "" { // without a file, the message names the unreadable input
				text = f.At.String() + ": " + text
			}
			write(0, text)
			out.WriteString(anyLine.ReplaceAllString(line(f.Excerpt), "  $0"))
			if f.Hint != "" {
				for hint := range strings.SplitSeq("hint: "+f.Hint, "\n") {
					write(2, hint)
				}
			}
			t.Space()
		}
	}
	write(0, r.summary())
	if r.Count() > 0 && !slices.ContainsFunc(r.Items(), func(i Item) bool { return i.Help == "" }) {
		write(0, "podverdict rules ID explains a finding, by the id in brackets")
	}
	_, err := w.Write(out.Bytes())
	return err
}

// Nothing is the message for an input without objects to check.
const Nothing = "nothing was checked: there is no Job, CronJob or custom policy in the input"

func (r Report) summary() string {
	if len(r.Subjects) == 0 {
		return Nothing
	}
	text := "no findings in " + r.looked()
	if r.Count() > 0 {
		text = fmt.Sprintf("%s in %s: %s, %s", print.Plural(r.Count(), "finding"), r.looked(),
			print.Plural(r.Count("error"), "error"), print.Plural(r.Count("warning"), "warning"))
	}
	ignored := 0
	for _, s := range r.Subjects {
		ignored += len(s.Ignored)
	}
	if ignored > 0 {
		text += fmt.Sprintf("; %d more ignored", ignored)
	}
	return text
}

// looked returns the number of checked objects of each kind, in words.
func (r Report) looked() string {
	var kinds []string
	counts := map[string]int{}
	for _, s := range r.Subjects {
		kind := cmp.Or(s.Kind, "Job")
		if counts[kind] == 0 {
			kinds = append(kinds, kind)
		}
		counts[kind]++
	}
	texts := make([]string, len(kinds))
	for i, kind := range kinds {
		texts[i] = print.Plural(counts[kind], kind)
	}
	return strings.Join(texts, ", ")
}

var anyLine = regexp.MustCompile(`(?m)^.+`)

// line returns a non-empty text with a newline.
func line(text string) string {
	if text == "" {
		return ""
	}
	return text + "\n"
}

// writeGitHub writes workflow commands, which GitHub shows next to the lines of a pull request.
func (r Report) writeGitHub(w io.Writer) error {
	for _, s := range r.Subjects {
		for _, f := range s.Findings {
			c := terminal.Command{Name: f.Severity, Text: s.title() + ": " + sentence(f)}
			if f.inFile() {
				c.Text = sentence(f)
				c.Properties = []terminal.Property{
					{Name: "file", Value: f.At.File}, {Name: "line", Value: strconv.Itoa(f.At.Line)}, {Name: "col", Value: strconv.Itoa(f.At.Column)},
				}
			}
			c.Properties = append(c.Properties, terminal.Property{Name: "title", Value: f.Check})
			if err := c.Write(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// sentence returns a finding with its hint but without its position.
func sentence(f Finding) string {
	text := f.sentence()
	if f.Hint != "" {
		text += "\n" + f.Hint
	}
	return text
}
