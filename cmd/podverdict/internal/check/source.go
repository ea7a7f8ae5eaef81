package check

import (
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// source is the text of a file, and a Job in it.
type source struct {
	text     string
	lines    []string
	job      manifest.Job
	settings *settings
}

const byteOrderMark = "\ufeff"

var (
	errComments = errors.New("there are comments between the items")
	errLayout   = errors.New("its layout is not one that can be kept")
)

// offset returns the byte offset of a node.
func (s source) offset(node *yaml.Node) int {
	at := s.job.Origin.PositionOf(node)
	begin := s.lineOffset(at.Line - 1)
	line := s.text[begin:]
	if at.Line == 1 && strings.HasPrefix(line, byteOrderMark) {
		begin += len(byteOrderMark)
		line = s.text[begin:]
	}
	for range at.Column - 1 {
		_, size := utf8.DecodeRuneInString(line)
		line = line[size:]
	}
	return len(s.text) - len(line)
}

// lineOffset returns the byte offset of a line. Lines count from 0.
func (s source) lineOffset(n int) (offset int) {
	for _, line := range s.lines[:min(n, len(s.lines))] {
		offset += len(line) + 1
	}
	return offset
}

// flowToken matches a quoted scalar, a comment, a bracket or a word.
var flowToken = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'[^']*'|#.*|[][{}]|[^][{},\s]+`)

// end returns the end of the word, quoted scalar or bracketed value that begins at an offset. For other values, it returns some offset in
// or after the value; verify refuses changes made there, because the resulting Job differs from the intended one.
func (s source) end(begin int) int {
	for depth := 0; ; {
		token := flowToken.FindStringIndex(s.text[begin:])
		if token == nil {
			return len(s.text)
		}
		switch s.text[begin+token[0]] {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if begin += token[1]; depth <= 0 {
			return begin
		}
	}
}

// reordered returns the text with the items of a list in a new order, which may omit items. The text between the items does not move.
func (s source) reordered(list *yaml.Node, order []int) (string, error) {
	isFlow, begin := list.Style&yaml.FlowStyle != 0, 0
	if isFlow {
		begin = s.offset(list)
	}
	var items, between []string
	from := begin
	for _, item := range list.Content {
		itemBegin, itemEnd, ok := s.span(item, isFlow)
		if !ok || itemBegin < from {
			return "", errLayout
		}
		items, between = append(items, s.text[itemBegin:itemEnd]), append(between, s.text[from:itemBegin])
		from = itemEnd
	}
	if isFlow && strings.Contains(strings.Join(between, "")+s.text[from:max(from, s.end(begin))], "#") {
		return "", errComments
	}
	var b strings.Builder
	for i, n := range order {
		b.WriteString(between[i] + items[n])
	}
	return s.text[:begin] + b.String() + s.text[from:], nil
}

// span returns the begin and end of a list item. In block style, an item has its own lines and includes the comments directly above it.
func (s source) span(item *yaml.Node, isFlow bool) (begin, end int, ok bool) {
	if isFlow {
		begin = s.offset(item)
		return begin, s.end(begin), true
	}
	n := s.job.Origin.PositionOf(item).Line - 1
	if n >= len(s.lines) {
		return 0, 0, false
	}
	text := strings.TrimLeft(s.lines[n], " ")
	first := beforeComments(s.lines, n, len(s.lines[n])-len(text))
	return s.lineOffset(first), s.lineOffset(manifest.EndOfBlock(s.lines, n)+1) - 1, strings.HasPrefix(text, "- ")
}

// newMember returns the text with a member added before the first member of a mapping and its comments.
func (s source) newMember(mapping *yaml.Node, name, value string) (string, error) {
	key := mapping.Content[0]
	at, n := s.offset(key), s.job.Origin.PositionOf(key).Line-1
	indent := s.text[strings.LastIndexByte(s.text[:at], '\n')+1 : at]
	isFlow, isFirst := mapping.Style&yaml.FlowStyle != 0, strings.TrimLeft(indent, " \t") == "" // in its line
	newline := "\n"
	if n > 0 && strings.HasSuffix(s.lines[n-1], "\r") {
		newline = "\r\n"
	}
	colon, separator := ": ", ", "
	switch {
	case isFirst && isFlow:
		separator = "," + newline + indent
	case isFirst:
		at, separator = s.lineOffset(beforeComments(s.lines, n, len(indent)))+len(indent), newline+indent
	case !isFlow:
		return "", errLayout
	case !strings.HasPrefix(s.text[at+len(inQuotes(key.Value, key.Style)):], colon):
		colon, separator = ":", ","
	}
	return s.text[:at] + inQuotes(name, key.Style) + colon + value + separator + s.text[at:], nil
}

// beforeComments returns the first of the comment lines directly before a line with the same indentation, or the line itself.
func beforeComments(lines []string, n, indent int) int {
	for n > 0 {
		above := strings.TrimLeft(lines[n-1], " ")
		if !strings.HasPrefix(above, "#") || len(lines[n-1])-len(above) != indent {
			break
		}
		n--
	}
	return n
}

// inQuotes returns a word that needs no escapes as a scalar of the given style.
func inQuotes(word string, style yaml.Style) string {
	switch style {
	case yaml.DoubleQuotedStyle:
		return `"` + word + `"`
	case yaml.SingleQuotedStyle:
		return `'` + word + `'`
	default:
		return word
	}
}
