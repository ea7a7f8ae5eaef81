package manifest

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/podverdict/podverdict/internal/input/documents"
)

// PositionIn returns the position of a line and column, both from 1, in the text of a field. If it cannot be determined,
// PositionIn returns the field's position.
//
// YAML folds lines, removes indentation and resolves escapes, but preserves the order of all characters that are not spaces.
// PositionIn therefore counts these characters up to the place.
func (o Origin) PositionIn(field string, line, column int) Position {
	d := o.Document
	if d.Line == 0 || line == 0 {
		return o.Position(field)
	}
	_, node := d.find(steps(o.path(field)))
	for node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node == nil || node.Kind != yaml.ScalarNode || d.oddBreaks {
		return o.Position(field)
	}
	before, after := cutInk(node.Value, line, column)
	at, ok := d.written(node).skip(before, after == "")
	if !ok {
		return o.Position(field)
	}
	return d.place(at.Line, at.Column+1)
}

// cutInk splits a text at a line and column, and removes all spaces from both parts.
func cutInk(text string, line, column int) (before, after string) {
	rest := ""
	if lines := strings.SplitAfterN(text, "\n", line); len(lines) == line {
		rest = lines[line-1]
	}
	head := text[:len(text)-len(rest)]
	within, behind, _ := strings.Cut(rest, "\n")
	left, right := cutAt(within, column-1)
	return ink(head + left), ink(right + behind)
}

func ink(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// maxWritten is the number of bytes of a document searched for a position in an expression. Expressions are shorter.
const maxWritten = 64 << 10

// written is the source text of a scalar and everything after it.
type written struct {
	text  string
	style yaml.Style
	at    documents.Place
}

func (d *Document) written(node *yaml.Node) written {
	w := written{style: node.Style, at: documents.Place{Line: node.Line, Column: node.Column - 1}}
	offset, _ := d.offset(d.Line+node.Line-1, node.Column-1)
	all := string(d.Text[offset:min(len(d.Text), offset+maxWritten)])
	text := all
	for strings.HasPrefix(text, "&") || strings.HasPrefix(text, "!") { // anchors and tags precede the text
		property := text[:max(strings.IndexAny(text, " \t\n"), 0)]
		text = strings.TrimLeft(text[len(property):], " \t")
		if property == "" {
			break
		}
	}
	w.at = w.at.After([]byte(all[:len(all)-len(text)]))
	switch {
	case node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0: // after the header
		header, body, _ := strings.Cut(text, "\n")
		w.at, text = w.at.After([]byte(header+"\n")), body
	case node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 && text != "":
		w.at, text = w.at.After([]byte(text[:1])), text[1:]
	}
	w.text = text
	return w
}

// skip returns the position after the given characters: the position of the next one, or with end the position right after
// them. ok is false if the text has other characters.
func (w written) skip(ink string, end bool) (at documents.Place, ok bool) {
	for {
		r, size := w.next()
		wanted, n := utf8.DecodeRuneInString(ink)
		switch {
		case n == 0 && (end || !unicode.IsSpace(r)):
			return w.at, size > 0 || end
		case size == 0:
			return w.at, false
		case unicode.IsSpace(r):
		case r != wanted:
			return w.at, false
		default:
			ink = ink[n:]
		}
		w.at, w.text = w.at.After([]byte(w.text[:size])), w.text[size:]
	}
}

// next returns the next character and its encoded length in bytes.
func (w written) next() (r rune, size int) {
	r, size = utf8.DecodeRuneInString(w.text)
	switch {
	case w.style&yaml.SingleQuotedStyle != 0 && strings.HasPrefix(w.text, "''"):
		return '\'', 2
	case w.style&yaml.DoubleQuotedStyle != 0 && r == '\\':
		return escaped(w.text)
	}
	return r, size
}

// digits maps an escape letter to its number of hexadecimal digits.
var digits = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// escaped returns the character of an escape sequence in a double-quoted text. All escapes for spaces return ' '.
func escaped(text string) (r rune, size int) {
	if len(text) < 2 {
		return utf8.RuneError, 0
	}
	if n := digits[text[1]]; n > 0 && len(text) >= 2+n {
		code, err := strconv.ParseUint(text[2:2+n], 16, 31)
		if err != nil {
			return utf8.RuneError, 0
		}
		return rune(code), 2 + n
	}
	if strings.IndexByte("ntvfr \t\n_NLP", text[1]) >= 0 {
		return ' ', 2
	}
	return rune(text[1]), 2
}
