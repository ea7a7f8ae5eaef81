package manifest

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// Position is a place in a file. Line and Column count from 1, Column in characters. For an object read from a cluster, File is the
// object's name and Line is 0.
type Position struct {
	File         string
	Line, Column int
}

func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Origin is the place an object was read from.
type Origin struct {
	Document *Document
	// Path leads from the document to the object: "" if the document is the object, else "items[3]" or "spec.jobTemplate".
	Path string
	// spec is the path of the spec field, if it has another name here.
	spec string
	// above is the path of the object's field that the document holds, if the document is only a part of an object.
	above string
}

// Field returns the path of the object's field within the document.
func (o Origin) Field(field string) string {
	return joinField(o.Document.within(), o.path(field))
}

// path returns the field's path within the part of the document that was given.
func (o Origin) path(field string) string {
	if below, ok := strings.CutPrefix(field, o.above); ok && o.above != "" {
		field = strings.TrimPrefix(below, ".")
	}
	if below, ok := strings.CutPrefix(field, "spec"); ok && o.spec != "" && (below == "" || strings.HasPrefix(below, ".")) {
		field = o.spec + below
	}
	return joinField(o.Path, field)
}

func (o Origin) at(field string) Origin {
	return Origin{Document: o.Document, Path: o.path(field)}
}

// Position returns the position of a field's value, or of its name if the value is a block that begins on a later line. For an absent
// field, it is the position of the closest parent.
func (o Origin) Position(field string) Position {
	return o.Document.position(steps(o.path(field)))
}

// Error returns an error about a field; "" is the object itself.
func (o Origin) Error(field, message string) *Error {
	return &Error{origin: o, Field: o.Field(field), Message: message}
}

// inFileOrder sorts errors of one document by line and keeps the first maxErrors.
func inFileOrder(errs []*Error) []error {
	errs = errs[:min(len(errs), maxErrors)]
	lines := make(map[*Error]int, len(errs))
	for _, err := range errs {
		lines[err] = err.Position().Line
	}
	slices.SortStableFunc(errs, func(a, b *Error) int { return cmp.Compare(lines[a], lines[b]) })
	sorted := make([]error, len(errs))
	for i, err := range errs {
		sorted[i] = err
	}
	return sorted
}

func joinField(parent, child string) string {
	if parent == "" || child == "" || child[0] == '[' {
		return parent + child
	}
	return parent + "." + child
}

// FieldOfKey returns the field path of a map's member as Kubernetes writes it: labels.app, but labels[a.b/c].
func FieldOfKey(parent, key string) string {
	if strings.ContainsAny(key, ".[") {
		key = "[" + key + "]"
	}
	return joinField(parent, key)
}

// steps splits a field path: "rules[1].action" into "rules", "[1]", "action". Keys that contain dots are written labels[a.b/c].
func steps(field string) []string {
	var found []string
	for field != "" {
		if field[0] == '.' {
			field = field[1:]
			continue
		}
		end := strings.IndexAny(field[1:], ".[") + 1
		if field[0] == '[' {
			end = strings.IndexByte(field, ']') + 1
		}
		if end <= 0 {
			end = len(field)
		}
		found = append(found, field[:end])
		field = field[end:]
	}
	return found
}

// tree returns the document as YAML nodes; nil if it is not YAML.
func (d *Document) tree() *yaml.Node {
	d.parse.Do(func() {
		var root yaml.Node
		if yaml.Unmarshal(d.Text, &root) == nil && len(root.Content) > 0 {
			d.root, d.oddBreaks = root.Content[0], hasOddBreaks(d.Text)
		}
	})
	return d.root
}

// find follows a path as far as the document has it. It returns the last node, and its key if the node is a mapping's member. Both
// are nil if the document is not YAML.
func (d *Document) find(path []string) (key, node *yaml.Node) {
	node = d.tree()
	if node == nil {
		return nil, nil
	}
	for _, step := range path {
		name, value := member(node, step)
		if value == nil {
			break
		}
		key, node = name, value
	}
	return key, node
}

func (d *Document) position(path []string) Position {
	if d.Line == 0 {
		return Position{File: d.File}
	}
	if d.isHead() || d.Text == nil {
		return d.place(1, 1)
	}
	key, node := d.find(path)
	switch {
	case node == nil:
		return d.begin(1)
	case key != nil && key.Line < node.Line:
		return d.nodePosition(key)
	}
	return d.nodePosition(node)
}

// keyPosition returns the position of a field's name.
func (d *Document) keyPosition(path []string) Position {
	key, _ := d.find(path)
	if key == nil {
		return d.position(path)
	}
	return d.nodePosition(key)
}

// nodePosition returns the position of a node, counting lines that end with \n. If YAML counts the document's lines differently, it
// returns the start of the document.
func (d *Document) nodePosition(node *yaml.Node) Position {
	if d.oddBreaks {
		return d.begin(1)
	}
	return d.place(node.Line, node.Column)
}

// hasOddBreaks reports whether a text has line breaks that YAML recognises but most editors do not.
func hasOddBreaks(text []byte) bool {
	return bytes.Count(text, []byte("\r")) != bytes.Count(text, []byte("\r\n")) || bytes.ContainsAny(text, "\u0085\u2028\u2029")
}

// place converts a position within the document, counted from 1, into one within the file.
func (d *Document) place(line, column int) Position {
	if line == 1 {
		column += d.Column
	}
	return Position{File: d.File, Line: d.Line + line - 1, Column: column}
}

// begin returns the position of the first text on a line of the document or after it. If no text follows, it returns the position of
// the last line that has text.
func (d *Document) begin(line int) Position {
	at, n := d.place(1, 1), 0
	for text := range bytes.Lines(d.Text) {
		n++
		if indent := bytes.IndexFunc(text, isText); indent >= 0 {
			at = d.place(n, 1+indent)
		}
		if n >= line && at.Line == d.Line+n-1 {
			break
		}
	}
	return at
}

func isText(r rune) bool { return !unicode.IsSpace(r) }

// member resolves one step below a node. It returns the value, and the key if the node is a mapping; nil if there is no such member.
func member(node *yaml.Node, step string) (key, value *yaml.Node) {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	name := step
	if inner, ok := strings.CutPrefix(step, "["); ok {
		name = strings.TrimSuffix(inner, "]")
	}
	switch node.Kind {
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(node.Content) {
			return nil, node.Content[i]
		}
	case yaml.MappingNode:
		return mappingMember(node, name)
	}
	return nil, nil
}

func mappingMember(node *yaml.Node, name string) (key, value *yaml.Node) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i], node.Content[i+1]
		}
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].ShortTag() == "!!merge" {
			return member(node.Content[i+1], name)
		}
	}
	return nil, nil
}
