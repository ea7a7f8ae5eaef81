package print_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/internal/terminal"
)

var columns = []print.Column{{Name: "POD", Least: 8, KeepEnd: true}, {Name: "VERDICT"}, {Name: "BECAUSE", Least: 10}}

func cells(texts ...string) []print.Cell {
	row := make([]print.Cell, len(texts))
	for i, text := range texts {
		row[i].Text = text
	}
	return row
}

func TestColumns(t *testing.T) {
	long := strings.Repeat("training-", 8) + "7xk2p"
	for _, test := range []struct {
		name   string
		width  int
		rows   [][]print.Cell
		want   string
		bounds bool
	}{
		{"as wide as the cells", 0, [][]print.Cell{cells("a", "Ignore", "x"), cells(long, "-", "yy")}, "" +
			"POD" + strings.Repeat(" ", 77) + "VERDICT   BECAUSE\n" +
			"a" + strings.Repeat(" ", 79) + "Ignore    x\n" +
			long + "   -         yy\n", false},
		{"cut or folded where it is too long", 40, [][]print.Cell{cells("a", "FailIndex", "short"), cells(long, "Count", "the condition DisruptionTarget")}, "" +
			"POD             VERDICT     BECAUSE\n" +
			"a               FailIndex   short\n" +
			"…aining-7xk2p   Count       the\n" +
			"                            condition\n" +
			"                            DisruptionTa\n" +
			"                            rget\n", true},
		{"not below the least", 10, [][]print.Cell{cells(long, "FailIndex", "the condition")}, "" +
			"POD        VERDICT     BECAUSE\n" +
			"…g-7xk2p   FailIndex   the\n" +
			"                       condition\n", false},
		{"a cell of several lines", 0, [][]print.Cell{cells("a", "b", "x\ny\x1b[31m")}, "" +
			"POD   VERDICT   BECAUSE\n" +
			"a     b         x\\ny\\x1b[31m\n", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			w := print.NewTable(&out, print.Screen{Width: test.width}, true, columns...)
			for _, row := range test.rows {
				w.Row(row...)
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, out.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for line := range strings.Lines(out.String()) {
				if length := utf8.RuneCountInString(strings.TrimRight(line, "\n")); test.bounds && length > test.width {
					t.Errorf("%d characters on a line: %s", length, line)
				}
			}
		})
	}
}

// Columns grow when later rows need more room, and their names are then written again.
func TestColumnsGrow(t *testing.T) {
	var out bytes.Buffer
	w := print.NewTable(&out, print.Screen{}, true, columns...)
	for _, name := range []string{"demo-1", "d", "longer-1"} {
		w.Row(cells(name, "Count", "a reason that differs in length from "+name)...)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	want := `POD      VERDICT   BECAUSE
demo-1   Count     a reason that differs in length from demo-1
d        Count     a reason that differs in length from d
POD        VERDICT   BECAUSE
longer-1   Count     a reason that differs in length from longer-1
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Sentences are written below their rows if the screen is too narrow, and continue in the next line.
func TestBelow(t *testing.T) {
	columns := []print.Column{{Name: "ID"}, {Name: "SEVERITY"}, {Name: "REQUIREMENT", Below: true}}
	for _, test := range []struct {
		width int
		want  string
	}{
		{0, "ID       SEVERITY   REQUIREMENT\nsorted   error      Exit codes are ordered\nonce     error      Once\n  a note\n"},
		{42, "ID       SEVERITY   REQUIREMENT\nsorted   error      Exit codes are ordered\nonce     error      Once\n  a note\n"},
		{41, "ID       SEVERITY\nsorted   error\n  Exit codes are ordered\nonce     error\n  Once\n  a note\n"},
		{17, "ID       SEVERITY\nsorted   error\n  Exit codes are\n    ordered\nonce     error\n  Once\n  a note\n"},
	} {
		var out bytes.Buffer
		w := print.NewTable(&out, print.Screen{Width: test.width}, true, columns...)
		w.Row(cells("sorted", "error", "Exit codes are ordered")...)
		w.Row(cells("once", "error", "Once")...)
		w.Note("a note")
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, out.String()); diff != "" {
			t.Errorf("%d columns (-want +got):\n%s", test.width, diff)
		}
	}
}

// The last column is folded if there is room for it. Otherwise sentences are written below their rows from then on, even if later ones
// would fit.
func TestFoldedOrBelow(t *testing.T) {
	var out bytes.Buffer
	w := print.NewTable(&out, print.Screen{Width: 36}, true,
		print.Column{Name: "POD", Least: 8, KeepEnd: true}, print.Column{Name: "RULE", Least: 6}, print.Column{Name: "BECAUSE", Least: 9, Below: true})
	for _, row := range [][]string{
		{"a-1", "0", "short"}, {"a-2", "0", "main exited with 137 (SIGKILL)"}, {"nightly-7xk2p", "unknown", "main exited"}, {"b", "1", "fits"},
	} {
		w.Row(cells(row...)...)
		w.Note("a note")
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	want := `POD   RULE   BECAUSE
a-1   0      short
  a note
a-2   0      main exited with 137
             (SIGKILL)
  a note
POD             RULE
nightly-7xk2p   unknown
  main exited
  a note
b               1
  fits
  a note
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHeading(t *testing.T) {
	var out bytes.Buffer
	w := print.NewTable(&out, print.Screen{Width: 20}, true, columns...)
	w.Heading("Job a", "3 failures")
	w.Heading("Job a", "")
	w.Heading("Job train", "3 of 6 failures used")
	if got, want := out.String(), "Job a: 3 failures\nJob a\nJob train:\n  3 of 6 failures used\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Colours reach the terminal, escape sequences in untrusted text do not.
func TestColor(t *testing.T) {
	var out bytes.Buffer
	w := print.NewTable(terminal.NewWriter(&out), print.Screen{Color: true}, false, columns...)
	w.Row(print.Cell{Text: "a"}, print.Cell{Text: "FailJob", Color: print.Red}, print.Cell{Text: "\x1b[32m"})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "a   \x1b[31mFailJob\x1b[0m   \\x1b[32m\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

type brokenWriter struct{}

var errBroken = errors.New("broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestError(t *testing.T) {
	w := print.NewTable(brokenWriter{}, print.Screen{}, false, columns...)
	w.Heading("Job", "none")
	if err := w.Flush(); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}
