package manifest

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/documents"
)

// mark is a place in a document, with d.Line on its first line and columns from 0.
type mark struct {
	documents.Place
	offset int
}

// markDistance is how many bytes are between marks: as many are looked through for a place.
const markDistance = 4 << 10

// allMarks returns the marks. They are made once, because a report on a List of thousands of Jobs asks for as many places.
func (d *Document) allMarks() []mark {
	d.mark.Do(func() {
		at := mark{Place: documents.Place{Line: d.Line}}
		for {
			d.marks = append(d.marks, at)
			next := at.offset + markDistance
			for next < len(d.Text) && !utf8.RuneStart(d.Text[next]) {
				next++
			}
			if next >= len(d.Text) {
				return
			}
			at = mark{at.After(d.Text[at.offset:next]), next}
		}
	})
	return d.marks
}

// offset returns where a character of a line stands, or the end of the line if it has fewer. It is not ok when there is no such
// line.
func (d *Document) offset(line, column int) (offset int, ok bool) {
	marks := d.allMarks()
	i, exact := slices.BinarySearchFunc(marks, documents.Place{Line: line, Column: column}, func(m mark, p documents.Place) int {
		return cmp.Or(cmp.Compare(m.Line, p.Line), cmp.Compare(m.Column, p.Column))
	})
	if !exact {
		i--
	}
	if i < 0 {
		return 0, false
	}
	at := marks[i]
	for ; at.Line < line; at.Line++ {
		end := bytes.IndexByte(d.Text[at.offset:], '\n')
		if end < 0 {
			return 0, false
		}
		at.offset, at.Column = at.offset+end+1, 0
	}
	if at.offset >= len(d.Text) {
		return 0, false
	}
	for ; at.Column < column && at.offset < len(d.Text) && d.Text[at.offset] != '\n'; at.Column++ {
		_, size := utf8.DecodeRune(d.Text[at.offset:])
		at.offset += size
	}
	return at.offset, true
}

// around returns what stands before and after an offset on its line, or as much of it as an excerpt may show, and more.
func (d *Document) around(offset int) (before, after string) {
	const enough = (excerptWidth + 1) * utf8.UTFMax
	head, rest := d.Text[:offset], d.Text[offset:]
	if start := len(head) - enough; start > 0 {
		for start < len(head) && !utf8.RuneStart(head[start]) {
			start++
		}
		head = head[start:]
	}
	head = head[bytes.LastIndexByte(head, '\n')+1:]
	rest, _, _ = bytes.Cut(rest[:min(len(rest), enough)], []byte("\n"))
	rest = bytes.TrimRight(rest, "\r")
	if len(rest) == 0 {
		head = bytes.TrimRight(head, "\r")
	}
	return string(head), string(rest)
}
