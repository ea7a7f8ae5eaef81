package manifest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// excerptWidth is the number of characters of a source line in an excerpt: minified JSON has lines of megabytes. With the line
// number before them and an indentation of two, they fit a terminal of 80 columns.
const excerptWidth = 71

// Excerpt returns a line of the document with a caret beneath the column:
//
//	17 |     - action: Fail
//	   |               ^
//
// It returns "" if the position is not in the document.
func (d *Document) Excerpt(p Position) string {
	column := max(p.Column, 1)
	if p.Line == d.Line {
		column = max(column-d.Column, 1)
	}
	offset, ok := d.offset(p.Line, column-1)
	if !ok {
		return ""
	}
	before, after := window(d.around(offset))
	number := strconv.Itoa(p.Line)
	return fmt.Sprintf("%s | %s%s\n%s | %s^", number, printable(before), printable(after), blank(number), blank(printable(before)))
}

// window shortens the text before and after the caret if together they are too long.
func window(before, after string) (string, string) {
	n := utf8.RuneCountInString(before)
	if n+utf8.RuneCountInString(after) <= excerptWidth {
		return before, after
	}
	room := max(excerptWidth/2, excerptWidth-n)
	if head, rest := cutAt(after, room); rest != "" {
		head, _ = cutAt(head, room-1)
		after = head + "…"
	}
	if room = max(excerptWidth/2, excerptWidth-utf8.RuneCountInString(after)); n > room {
		_, tail := cutAt(before, n-room+1)
		before = "…" + tail
	}
	return before, after
}

// cutAt splits a text before the n-th character, counted from 0.
func cutAt(text string, n int) (before, after string) {
	for offset := range text {
		if n == 0 {
			return text[:offset], text[offset:]
		}
		n--
	}
	return text, ""
}

// printable replaces control characters, including terminal escapes, so that they cannot affect the reader's terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// blank returns spaces as wide as a text. Tabs are kept, so that the text after them stays aligned.
func blank(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, text)
}
