package manifest

import (
	"bytes"
	"unicode/utf8"
)

// allLines returns the offsets at which lines begin. They are computed only once, because a report on a List of thousands of Jobs
// needs thousands of positions.
func (d *Document) allLines() []int {
	d.index.Do(func() {
		d.ascii = utf8.RuneCount(d.Text) == len(d.Text)
		begin := 0
		for line := range bytes.Lines(d.Text) {
			d.lines = append(d.lines, begin)
			begin += len(line)
		}
	})
	return d.lines
}

// offset returns the offset of a character of a line, or of the end of the line if it is shorter. ok is false if the line does not
// exist.
func (d *Document) offset(line, column int) (offset int, ok bool) {
	lines, n := d.allLines(), line-d.Line
	if n < 0 || n >= len(lines) {
		return 0, false
	}
	offset, end := lines[n], len(d.Text)
	if n+1 < len(lines) {
		end = lines[n+1]
	}
	text := bytes.TrimSuffix(d.Text[offset:end], []byte("\n"))
	if d.ascii {
		return offset + min(column, len(text)), true
	}
	for ; column > 0 && len(text) > 0; column-- {
		_, size := utf8.DecodeRune(text)
		offset, text = offset+size, text[size:]
	}
	return offset, true
}

// around returns the text before and after an offset on its line. Each part has at least as many characters as an excerpt shows,
// unless the line is shorter.
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
