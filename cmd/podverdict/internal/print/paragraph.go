package print

import (
	"strings"
	"unicode/utf8"

	"github.com/podverdict/podverdict/internal/terminal"
)

// pageWidth is the width of paragraphs on a screen of unknown width.
const pageWidth = 80

// Paragraph writes a text followed by comma-separated names. It breaks lines between words and names, and indents all lines after the
// first by two more characters.
func (w *Table) Paragraph(indent int, text Cell, names ...string) {
	words := strings.Fields(terminal.Line(text.Text))
	prose := len(words)
	for i, name := range names {
		if name = terminal.Line(name); i < len(names)-1 {
			name += ","
		}
		words = append(words, name)
	}
	width := w.screen.Width
	if width == 0 {
		width = pageWidth
	}
	margin := strings.Repeat(" ", indent)
	w.print(margin)
	column := indent
	for i, word := range words {
		length := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+length > width:
			w.print("\n  " + margin)
			column = indent + 2
		default:
			w.print(" ")
			column++
		}
		if i < prose {
			w.paint(word, text.Color)
		} else {
			w.print(word)
		}
		column += length
	}
	w.print("\n")
}
