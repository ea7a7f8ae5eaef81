package manifest

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Ignore is a comment that suppresses a finding:
//
//	# podverdict:ignore ID reason
//
// After a value or on the line before it, the comment covers that value and everything below it. Before the first line of a
// document, it covers the whole document.
type Ignore struct {
	ID, Reason string
	At         Position
	// first and last are the lines that the comment covers; last is 0 for the whole document.
	first, last int
}

// Covers reports whether the comment covers a position in its document.
func (i Ignore) Covers(p Position) bool {
	return i.last == 0 || i.first <= p.Line && p.Line <= i.last
}

var ignoreComment = regexp.MustCompile(`(?:^|\s)#\s*podverdict:ignore(?:[ \t]+(\S+))?(?:[ \t]+(.*?))?\s*$`)

// Ignores returns the ignore comments of a document, sorted by line. JSON has no comments.
func (d *Document) Ignores() []Ignore {
	if d.JSON || !bytes.Contains(d.Text, []byte("podverdict:ignore")) {
		return nil
	}
	var found []Ignore
	lines := strings.Split(string(d.Text), "\n")
	for n, line := range lines {
		text := ignoreComment.FindStringSubmatch(line)
		if text == nil {
			continue
		}
		before, _, _ := strings.Cut(line, strings.TrimSpace(text[0]))
		i := Ignore{ID: text[1], Reason: text[2], At: d.place(n+1, utf8.RuneCountInString(before)+1)}
		target := n
		if next := nextYAML(lines, n); next < len(lines) {
			target = next
		}
		i.first, i.last = d.Line+n, d.Line+EndOfBlock(lines, target)
		if target != n && nextYAML(lines[:n], 0) == n { // the comment precedes all YAML
			i.last = 0
		}
		found = append(found, i)
	}
	return found
}

// isYAML reports whether a line contains more than a comment or a document marker.
func isYAML(line string) bool {
	text := strings.TrimSpace(strings.TrimPrefix(line, "---"))
	return text != "" && text[0] != '#'
}

// nextYAML returns the index of the first line with YAML, starting at n, or len(lines).
func nextYAML(lines []string, n int) int {
	for n < len(lines) && !isYAML(lines[n]) {
		n++
	}
	return n
}

// EndOfBlock returns the index of the last line of the value on line n. The value includes lines with deeper indentation, and
// list items at the indentation of the list's name.
func EndOfBlock(lines []string, n int) int {
	end, indent, isItem := n, indentation(lines[n]), startsItem(lines[n])
	for i := n + 1; i < len(lines); i++ {
		if !isYAML(lines[i]) {
			continue
		}
		within := indentation(lines[i]) > indent || !isItem && indentation(lines[i]) == indent && startsItem(lines[i])
		if !within {
			break
		}
		end = i
	}
	return end
}

func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func startsItem(line string) bool {
	text := strings.TrimLeft(line, " ")
	return text == "-" || strings.HasPrefix(text, "- ")
}
