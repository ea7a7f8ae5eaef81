package manifest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// lineOf returns a line of the file, or the part of it that is in the document.
func lineOf(d *Document, line int) (string, bool) {
	n := d.Line
	for text := range bytes.Lines(d.Text) {
		if n == line {
			return strings.TrimRight(string(text), "\r\n"), true
		}
		n++
	}
	return "", false
}

// plainExcerpt returns the excerpt computed by scanning the document from its beginning.
func plainExcerpt(d *Document, p Position) string {
	text, ok := lineOf(d, p.Line)
	if !ok {
		return ""
	}
	column := max(p.Column, 1)
	if p.Line == d.Line {
		column = max(column-d.Column, 1)
	}
	before, after := window(cutAt(text, column-1))
	number := strconv.Itoa(p.Line)
	return fmt.Sprintf("%s | %s%s\n%s | %s^", number, printable(before), printable(after), blank(number), blank(printable(before)))
}

// TestExcerptIsThatOfTheWhole compares excerpts with plainExcerpt, for lines and documents of any length and any characters.
func TestExcerptIsThatOfTheWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"a", "é", "日", "𝄞", "\t", "\n", "\r\n", "\u2028", "key: value ", strings.Repeat("x", 50), strings.Repeat("é", 130)}
	for range 300 {
		var text strings.Builder
		for n := random.IntN(2000); text.Len() < n*20; {
			text.WriteString(parts[random.IntN(len(parts)-random.IntN(len(parts)))])
		}
		d := &Document{}
		d.Text, d.Line, d.Column = []byte(text.String()), 1+random.IntN(3), random.IntN(3)
		lines := bytes.Count(d.Text, []byte("\n"))
		for range 50 {
			p := Position{Line: random.IntN(d.Line + lines + 2), Column: random.IntN(1 + random.IntN(1+len(d.Text)))}
			if got, want := d.Excerpt(p), plainExcerpt(d, p); got != want {
				t.Fatalf("%q at %v: got\n%s\nwant\n%s", d.Text, p, got, want)
			}
		}
	}
}
