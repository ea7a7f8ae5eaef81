package repair

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
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
	offset := 0
	for _, line := range s.lines[:min(at.Line-1, len(s.lines))] {
		offset += len(line) + 1
	}
	if at.Line == 1 && strings.HasPrefix(s.text, byteOrderMark) {
		offset += len(byteOrderMark)
	}
	for n := 1; n < at.Column && offset < len(s.text); n++ {
		_, size := utf8.DecodeRuneInString(s.text[offset:])
		offset += size
	}
	return min(offset, len(s.text))
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

// arranged returns the text with the items of a list in another order, which may leave some out. The list is of the flow style, as
// all are in JSON. What stands between the items stays where it is.
func (s source) arranged(list *yaml.Node, order []int) (string, error) {
	end, ok := s.end(list)
	if !ok {
		return "", errLayout
	}
	items, between := make([]string, len(list.Content)), []string{}
	from := s.offset(list) + 1
	for i, item := range list.Content {
		begin := s.offset(item)
		itemEnd, ok := s.end(item)
		if !ok || begin < from {
			return "", errLayout
		}
		items[i], between = s.text[begin:itemEnd], append(between, s.text[from:begin])
		from = itemEnd
	}
	between = append(between, s.text[from:end])
	if slices.ContainsFunc(between, func(text string) bool { return strings.Contains(text, "#") }) {
		return "", errComments
	}
	var b strings.Builder
	for i, n := range order {
		b.WriteString(between[i] + items[n])
	}
	return s.text[:s.offset(list)+1] + b.String() + between[len(between)-1] + s.text[end:], nil
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
