package check

import (
	"errors"
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

// offset returns where a node begins.
func (s source) offset(node *yaml.Node) int {
	at := s.job.Origin.PositionOf(node)
	offset := s.lineOffset(at.Line - 1)
	if at.Line == 1 && strings.HasPrefix(s.text, byteOrderMark) {
		offset += len(byteOrderMark)
	}
	for n := 1; n < at.Column && offset < len(s.text); n++ {
		_, size := utf8.DecodeRuneInString(s.text[offset:])
		offset += size
	}
	return min(offset, len(s.text))
}

// lineOffset returns where a line begins. Lines count from 0.
func (s source) lineOffset(n int) (offset int) {
	for _, line := range s.lines[:min(n, len(s.lines))] {
		offset += len(line) + 1
	}
	return offset
}

// end returns where a scalar or a node of the flow style ends. It is not ok for other nodes and scalars of several lines.
func (s source) end(node *yaml.Node) (end int, ok bool) {
	begin := s.offset(node)
	closing := byte('}')
	switch {
	case node.Kind == yaml.ScalarNode:
		n := scalarLength(s.text[begin:], node)
		return begin + n, n > 0
	case node.Style&yaml.FlowStyle == 0:
		return 0, false
	case node.Kind == yaml.SequenceNode:
		closing = ']'
	}
	end = begin + 1
	if n := len(node.Content); n > 0 {
		if end, ok = s.end(node.Content[n-1]); !ok {
			return 0, false
		}
	}
	for end < len(s.text) && strings.IndexByte(", \t\r\n", s.text[end]) >= 0 {
		end++
	}
	return end + 1, end < len(s.text) && s.text[end] == closing
}

// scalarLength returns how long the scalar is that a text begins with, or 0.
func scalarLength(text string, node *yaml.Node) int {
	quote := byte('\'')
	switch node.Style &^ yaml.FlowStyle {
	case 0:
		if strings.HasPrefix(text, node.Value) {
			return len(node.Value)
		}
		return 0
	case yaml.DoubleQuotedStyle:
		quote = '"'
	case yaml.SingleQuotedStyle:
	default:
		return 0
	}
	for i := 1; i < len(text); i++ {
		switch {
		case quote == '"' && text[i] == '\\', quote == '\'' && strings.HasPrefix(text[i:], "''"):
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return 0
}

// reordered returns the text with the items of a list in another order, which may omit some. The text between the items is not moved.
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
	if isFlow {
		end, ok := s.end(list)
		switch {
		case !ok:
			return "", errLayout
		case strings.Contains(strings.Join(between, "")+s.text[from:end], "#"):
			return "", errComments
		}
	}
	var b strings.Builder
	for i, n := range order {
		b.WriteString(between[i] + items[n])
	}
	return s.text[:begin] + b.String() + s.text[from:], nil
}

// span returns where an item of a list begins and ends. In a block, it has lines of its own, and the comments right above it are part
// of it.
func (s source) span(item *yaml.Node, isFlow bool) (begin, end int, ok bool) {
	if isFlow {
		end, ok = s.end(item)
		return s.offset(item), end, ok
	}
	n := s.job.Origin.PositionOf(item).Line - 1
	if n >= len(s.lines) {
		return 0, 0, false
	}
	text := strings.TrimLeft(s.lines[n], " ")
	first := beforeComments(s.lines, n, len(s.lines[n])-len(text))
	return s.lineOffset(first), s.lineOffset(manifest.EndOfBlock(s.lines, n)+1) - 1, strings.HasPrefix(text, "- ")
}

// replaced returns the text with another value in place of a scalar.
func (s source) replaced(node *yaml.Node, value string) (string, error) {
	end, ok := s.end(node)
	if !ok || node.Kind != yaml.ScalarNode {
		return "", errLayout
	}
	return s.text[:s.offset(node)] + value + s.text[end:], nil
}

// newMember returns the text with a member before the others of a mapping, and before the comments on the first of them.
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
	switch end, ok := s.end(key); {
	case isFirst && isFlow:
		separator = "," + newline + indent
	case isFirst:
		at, separator = s.lineOffset(beforeComments(s.lines, n, len(indent)))+len(indent), newline+indent
	case !isFlow:
		return "", errLayout
	case ok && !strings.HasPrefix(s.text[end:], colon):
		colon, separator = ":", ","
	}
	return s.text[:at] + inQuotes(name, key.Style) + colon + value + separator + s.text[at:], nil
}

// beforeComments returns the first of the comment lines right before a line that are indented like it, or the line.
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

// inQuotes returns a word that needs no escapes as a scalar of some style.
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
