package table_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/table"
	"github.com/podverdict/podverdict/internal/terminal"
)

func TestParagraph(t *testing.T) {
	for _, test := range []struct {
		screen table.Screen
		indent int
		text   table.Cell
		names  []string
		want   string
	}{
		{table.Screen{Width: 20}, 2, table.Cell{Text: "no rule matches:"}, []string{"a", "bb", "cc\n", "a-name-of-23-characters"},
			"  no rule matches:\n    a, bb, cc\\n,\n    a-name-of-23-characters\n"},
		{table.Screen{}, 0, table.Cell{Text: strings.Repeat("word ", 16)}, nil, strings.Repeat("word ", 15) + "word\n"},
		{table.Screen{}, 0, table.Cell{Text: strings.Repeat("word ", 17)}, nil, strings.Repeat("word ", 16)[:79] + "\n  word\n"},
		{table.Screen{Color: true}, 0, table.Cell{Text: "Count:", Color: table.Yellow}, []string{"x"}, "\x1b[33mCount:\x1b[0m x\n"},
		{table.Screen{}, 2, table.Cell{}, nil, "  \n"},
	} {
		var out bytes.Buffer
		w := table.New(terminal.NewWriter(&out), test.screen, false)
		w.Paragraph(test.indent, test.text, test.names...)
		if diff := cmp.Diff(test.want, out.String()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.text.Text, diff)
		}
		if err := w.Flush(); err != nil {
			t.Error(err)
		}
	}
}
