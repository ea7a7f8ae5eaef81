package terminal

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Line returns the text on one line. Unprintable characters, including line ends, are escaped as in Go strings.
func Line(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if broken := r == utf8.RuneError && n == 1; !broken && strconv.IsPrint(r) {
			b.WriteString(text[:n])
		} else {
			quoted := strconv.Quote(text[:n])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[n:]
	}
	return b.String()
}

// Lines applies Line to each line of a text.
func Lines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = Line(lines[i])
	}
	return strings.Join(lines, "\n")
}
