package print

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/internal/terminal"
)

// MarkdownTable writes a table. The mark sets the alignment of all columns but the first.
func MarkdownTable(out io.Writer, columns []Column, mark string, rows [][]Cell) {
	write := func(texts []string) { fmt.Fprintln(out, "| "+strings.Join(texts, " | ")+" |") }
	texts, marks := make([]string, len(columns)), slices.Repeat([]string{mark}, len(columns))
	for i, column := range columns {
		texts[i] = column.Name
	}
	marks[0] = "---"
	write(texts)
	write(marks)
	for _, row := range rows {
		for i, cell := range row {
			texts[i] = Markdown(cell.Text)
		}
		write(texts)
	}
}

// markdownEscapes keeps untrusted text from being interpreted as Markdown, HTML, or a mention that notifies someone.
var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "~", `\~`, "#", `\#`, "!", `\!`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "@", "&#64;", "://", "&#58;//", "www.", "www&#46;",
)

// Markdown escapes a text for use in a table cell, on one line.
func Markdown(text string) string { return markdownEscapes.Replace(terminal.Line(text)) }
