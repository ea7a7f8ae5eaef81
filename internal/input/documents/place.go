package documents

import (
	"bytes"
	"unicode/utf8"
)

// Place is a line of a stream, counted from 1, and the number of characters
// before the place on that line.
type Place struct{ Line, Column int }

// After returns the place after a text that begins at p.
func (p Place) After(text []byte) Place {
	if n := bytes.Count(text, []byte("\n")); n > 0 {
		p.Line += n
		p.Column, text = 0, text[bytes.LastIndexByte(text, '\n')+1:]
	}
	p.Column += utf8.RuneCount(text)
	return p
}
