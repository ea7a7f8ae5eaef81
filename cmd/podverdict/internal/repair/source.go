package repair

import (
	"errors"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// source is the text of a file, in which an object stands.
type source struct {
	text   string
	lines  []string
	origin manifest.Origin
}

const byteOrderMark = "\ufeff"

var (
	errComments = errors.New("there are comments between the items")
	errLayout   = errors.New("its layout is not one that can be kept")
)

// offset returns where a node begins.
func (s source) offset(node *yaml.Node) int {
	at := s.origin.PositionOf(node)
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

// end returns where a node ends that is a scalar or of the flow style. It is not ok where that cannot be told.
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

// arranged returns the text with the items of a list in another order, which may leave some out. What stands between the items stays
// where it is.
func (s source) arranged(list *yaml.Node, order []int) (string, error) {
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
	n := s.origin.PositionOf(item).Line - 1
	if n >= len(s.lines) {
		return 0, 0, false
	}
	text := strings.TrimLeft(s.lines[n], " ")
	first := beforeComments(s.lines, n, len(s.lines[n])-len(text))
	return s.lineOffset(first), s.lineOffset(manifest.EndOfBlock(s.lines, n)+1) - 1, strings.HasPrefix(text, "- ")
}

// newMember returns the text with a member before the others of a mapping.
func (s source) newMember(mapping *yaml.Node, name, value string) (string, error) {
	if len(mapping.Content) == 0 {
		return "", errLayout
	}
	key := mapping.Content[0]
	at := s.offset(key)
	begin := strings.LastIndexByte(s.text[:at], '\n') + 1
	indent := s.text[begin:at]
	onItsOwn := strings.TrimLeft(indent, " \t") == ""
	newline := "\n"
	if strings.HasSuffix(s.text[:begin], "\r\n") {
		newline = "\r\n"
	}
	member := inQuotes(name, key.Style) + ": " + value
	switch {
	case mapping.Style&yaml.FlowStyle == 0 && onItsOwn:
		n := s.origin.PositionOf(key).Line - 1
		first := beforeComments(s.lines, n, len(indent))
		for ; n > first; n-- {
			begin -= len(s.lines[n-1]) + 1
		}
		return s.text[:begin] + indent + member + newline + s.text[begin:], nil
	case mapping.Style&yaml.FlowStyle == 0:
		return "", errLayout
	case onItsOwn:
		return s.text[:at] + member + "," + newline + indent + s.text[at:], nil
	}
	if end, ok := s.end(key); ok && !strings.HasPrefix(s.text[end:], ": ") {
		return s.text[:at] + inQuotes(name, key.Style) + ":" + value + "," + s.text[at:], nil
	}
	return s.text[:at] + member + ", " + s.text[at:], nil
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
