package manifest

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"
)

// mark is a place in a document, with d.line on its first line and columns from 0.
type mark struct {
	place
	offset int
}

// markDistance is how many bytes are between marks: as many are looked through for a place.
const markDistance = 4 << 10

// allMarks returns the marks. They are made once, because a report on a List of thousands of Jobs asks for as many places.
func (d *Document) allMarks() []mark {
	d.mark.Do(func() {
		at := mark{place: place{line: d.line}}
		for {
			d.marks = append(d.marks, at)
			next := at.offset + markDistance
			for next < len(d.data) && !utf8.RuneStart(d.data[next]) {
				next++
			}
			if next >= len(d.data) {
				return
			}
			at = mark{at.after(d.data[at.offset:next]), next}
		}
	})
	return d.marks
}

// offset is where a character of a line stands, or the end of the line if it has fewer. It is not ok when there is no such
// line.
func (d *Document) offset(line, column int) (offset int, ok bool) {
	marks := d.allMarks()
	i, exact := slices.BinarySearchFunc(marks, place{line, column}, func(m mark, p place) int {
		return cmp.Or(cmp.Compare(m.line, p.line), cmp.Compare(m.column, p.column))
	})
	if !exact {
		i--
	}
	if i < 0 {
		return 0, false
	}
	at := marks[i]
	for ; at.line < line; at.line++ {
		end := bytes.IndexByte(d.data[at.offset:], '\n')
		if end < 0 {
			return 0, false
		}
		at.offset, at.column = at.offset+end+1, 0
	}
	if at.offset >= len(d.data) {
		return 0, false
	}
	for ; at.column < column && at.offset < len(d.data) && d.data[at.offset] != '\n'; at.column++ {
		_, size := utf8.DecodeRune(d.data[at.offset:])
		at.offset += size
	}
	return at.offset, true
}

// around is what stands before and after an offset on its line, or as much of it as an excerpt may show, and more.
func (d *Document) around(offset int) (before, after string) {
	const enough = (excerptWidth + 1) * utf8.UTFMax
	head, rest := d.data[:offset], d.data[offset:]
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
