package print_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/internal/terminal"
)

func TestParagraph(t *testing.T) {
	for _, test := range []struct {
		screen print.Screen
		indent int
		text   print.Cell
		names  []string
		want   string
	}{
		{print.Screen{Width: 20}, 2, print.Cell{Text: "no rule matches:"}, []string{"a", "bb", "cc\n", "a-name-of-23-characters"},
			"  no rule matches:\n    a, bb, cc\\n,\n    a-name-of-23-characters\n"},
		{print.Screen{}, 0, print.Cell{Text: strings.Repeat("word ", 16)}, nil, strings.Repeat("word ", 15) + "word\n"},
		{print.Screen{}, 0, print.Cell{Text: strings.Repeat("word ", 17)}, nil, strings.Repeat("word ", 16)[:79] + "\n  word\n"},
		{print.Screen{Color: true}, 0, print.Cell{Text: "Count:", Color: print.Yellow}, []string{"x"}, "\x1b[33mCount:\x1b[0m x\n"},
		{print.Screen{}, 2, print.Cell{}, nil, "  \n"},
	} {
		var out bytes.Buffer
		w := print.NewTable(terminal.NewWriter(&out), test.screen, false)
		w.Paragraph(test.indent, test.text, test.names...)
		if diff := cmp.Diff(test.want, out.String()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.text.Text, diff)
		}
		if err := w.Flush(); err != nil {
			t.Error(err)
		}
	}
}
