package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubeyaml "sigs.k8s.io/yaml"
)

// items cuts a long List: each item becomes a document, and the List without items the last one.
type items struct {
	*splitter

	begin place  // of the List
	head  []byte // the List without its items, as far as it was read
	// next returns how long the next item is, behind the space before it that it passes; 0 behind the last.
	next func() (int, error)
	// rest completes the head.
	rest   func() error
	isJSON bool
}

// cut emits the items and the head. The splitter is at the first item.
func (l *items) cut() error {
	l.of.Add(1)
	t, _ := l.typeMeta()
	implied := impliedBy(t)
	for i := 0; ; i++ {
		n, err := l.next()
		if err == nil {
			err = l.checkLimit(n)
		}
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		d := &Document{
			within: fmt.Sprintf("items[%d]", i), implied: implied, settled: t.Kind != "", isJSON: l.isJSON, data: l.buf[:n:n], line: l.at.line, column: l.at.column,
		}
		l.advance(n)
		if err := l.send(d); err != nil {
			return err
		}
	}
	if err := l.rest(); err != nil {
		return err
	}
	return l.send(&Document{isHead: true, isJSON: l.isJSON, data: l.head, line: l.begin.line, column: l.begin.column})
}

// typeMeta returns the type of the List, as far as it was read. It is not ok if what was read is wrong.
func (l *items) typeMeta() (t metav1.TypeMeta, ok bool) {
	value, err := append(bytes.Clone(l.head), "]}"...), error(nil)
	if !l.isJSON {
		value, err = kubeyaml.YAMLToJSON(l.head)
	}
	return t, err == nil && json.Unmarshal(value, &t) == nil
}

// impliedBy returns the type of the items of a list such as PodList.
func impliedBy(list metav1.TypeMeta) metav1.TypeMeta {
	kind := strings.TrimSuffix(list.Kind, "List")
	if kind == "" || kind == list.Kind {
		return metav1.TypeMeta{}
	}
	return metav1.TypeMeta{APIVersion: list.APIVersion, Kind: kind}
}

// isList tells whether the head can be that of a List: its kind says so, or is still to come.
func (l *items) isList() bool {
	t, ok := l.typeMeta()
	return ok && (t.Kind == "" || strings.HasSuffix(t.Kind, "List"))
}

// itemsJSON returns the items of the List that comes next, or nil if it is none. It leaves the splitter where it is in that case, and
// else at the items.
func (s *splitter) itemsJSON() *items {
	at := s.memberJSON()
	if at == 0 {
		return nil
	}
	l := &items{splitter: s, begin: s.at, head: bytes.Clone(s.buf[:at]), isJSON: true}
	if !l.isList() {
		return nil
	}
	l.next, l.rest = l.nextJSON, l.restJSON
	s.advance(at)
	return l
}

// memberJSON returns where the list begins, behind its bracket, that is the member items of the object that comes next, or 0.
func (s *splitter) memberJSON() int {
	i := 1
	for {
		i = s.space(i, ", \t\r\n")
		if !s.fill(i+1) || s.buf[i] != '"' {
			return 0
		}
		length, ok := s.textJSON(i, longList)
		if !ok {
			return 0
		}
		name := string(s.buf[i : i+length])
		i = s.space(i+length, ": \t\r\n")
		if name == `"items"` && s.fill(i+1) && s.buf[i] == '[' {
			return i + 1
		}
		n, ok := s.valueJSON(i, longList)
		if !ok {
			return 0
		}
		i += n
	}
}

// space returns where the characters end that begin at i.
func (s *splitter) space(i int, characters string) int {
	for s.fill(i+1) && strings.IndexByte(characters, s.buf[i]) >= 0 {
		i++
	}
	return i
}

// valueJSON returns how long the value is that begins at i. It is not ok if it does not end within a limit.
func (s *splitter) valueJSON(i, limit int) (n int, ok bool) {
	if !s.fill(i + 1) {
		return 0, false
	}
	if c := s.buf[i]; c != '{' && c != '[' && c != '"' {
		for n = 0; s.fill(i+n+1) && strings.IndexByte(",]} \t\r\n", s.buf[i+n]) < 0; n++ {
			if n > limit {
				return n, false
			}
		}
		return n, n > 0
	}
	if s.buf[i] == '"' {
		return s.textJSON(i, limit)
	}
	scan := jsonScan{}
	for {
		n, ended := scan.on(s.buf[i:])
		if ended || n > limit {
			return n, ended
		}
		if i+n == len(s.buf) && !s.more() {
			return n, false
		}
	}
}

// textJSON is valueJSON for a text.
func (s *splitter) textJSON(i, limit int) (n int, ok bool) {
	end := i + 1
	for {
		var closed bool
		if end, closed = textEnd(s.buf, end); closed || end-i > limit {
			return end - i, closed
		}
		if !s.more() {
			return end - i, false
		}
	}
}

// nextJSON is next for JSON. What is no value ends the items: the head shows what is wrong then.
func (l *items) nextJSON() (int, error) {
	l.advance(l.space(0, ", \t\r\n"))
	if l.fill(1) && l.buf[0] == ']' {
		return 0, nil
	}
	n, ok := l.valueJSON(0, l.limit)
	if !ok {
		if err := l.failure(); !errors.Is(err, io.EOF) {
			return 0, err
		}
		return 0, l.checkLimit(n)
	}
	return n, nil
}

// restJSON is rest for JSON.
func (l *items) restJSON() error {
	scan := jsonScan{depth: 2}
	for {
		n, ended := scan.on(l.buf)
		if err := l.checkLimit(n); err != nil {
			return err
		}
		if ended || n == len(l.buf) && !l.more() {
			l.head = append(l.head, l.buf[:n]...)
			l.advance(n)
			return nil
		}
	}
}

// yamlItems is where the items of a List begin in YAML, at the beginning of a line.
var yamlItems = regexp.MustCompile(`(?m)^items:[ \t]*\r?\n(( *)- )`)

// itemsYAML returns the items of the List that comes next, of which n bytes have been read, or nil if it is none. Only lists that are
// written line by line are cut: each item begins with a dash, in the same column, and all that belongs to it stands further right.
func (s *splitter) itemsYAML(n int) *items {
	at := yamlItems.FindSubmatchIndex(s.buf[:n])
	if at == nil {
		return nil
	}
	l := &items{splitter: s, begin: s.at, head: append(bytes.TrimRight(bytes.Clone(s.buf[:at[2]]), "\r\n"), " []\n"...)}
	if !l.isList() {
		return nil
	}
	dash := at[5] - at[4]
	l.next = func() (int, error) { return l.nextYAML(dash) }
	l.rest = l.restYAML
	s.advance(at[2])
	return l
}

// nextYAML is next for YAML. The dash makes room for the item.
func (l *items) nextYAML(dash int) (int, error) {
	if !l.itemAt(0, dash) {
		return 0, nil
	}
	for i := 0; ; {
		next, goesOn, err := l.lineEnd(i)
		if err != nil {
			return 0, err
		}
		if !goesOn || l.itemAt(next, dash) || l.leaves(next, dash) {
			l.buf[dash] = ' '
			return next, nil
		}
		i = next
	}
}

// itemAt tells whether an item begins at the beginning of the line at i.
func (l *items) itemAt(i, dash int) bool {
	return l.fill(i+dash+2) && len(bytes.TrimLeft(l.buf[i:i+dash], " ")) == 0 && l.buf[i+dash] == '-' &&
		strings.IndexByte(" \t\r\n", l.buf[i+dash+1]) >= 0
}

// leaves tells whether the line at i has something that belongs to no item.
func (l *items) leaves(i, dash int) bool {
	end := l.space(i, " ")
	return l.fill(end+1) && end-i <= dash && strings.IndexByte("#\r\n", l.buf[end]) < 0
}

// restYAML is rest for YAML.
func (l *items) restYAML() error {
	for i := 0; ; {
		next, goesOn, err := l.lineEnd(i)
		if err != nil {
			return err
		}
		if l.markerAt(i, "---") || l.markerAt(i, "...") {
			next, goesOn = i, false
		}
		if i = next; !goesOn {
			l.head = append(l.head, l.buf[:i]...)
			l.advance(i)
			l.fresh = true
			return nil
		}
	}
}
