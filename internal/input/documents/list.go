package documents

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubeyaml "sigs.k8s.io/yaml"
)

// list is a long List whose items become documents of their own.
type list struct {
	*splitter

	of    *metav1.TypeMeta // type, if it precedes the items
	begin Place
	head  []byte // the List without its items, as far as it was read
	json  bool
	dash  int // column of the items' dashes in YAML
}

// longMember is the maximum size in bytes of a member before the items.
const longMember = 1 << 20

// newList returns the List whose items begin after n bytes, and advances the splitter to the items. It returns nil without advancing if the
// kind is not a List, or if the kind is not known yet and the first item has no kind.
func (s *splitter) newList(n int, head []byte, isJSON, typed bool) *list {
	l := &list{splitter: s, of: &metav1.TypeMeta{}, begin: s.at, head: head, json: isJSON}
	value, err := append(bytes.Clone(head), "]}"...), error(nil)
	if !isJSON {
		value, err = kubeyaml.YAMLToJSON(head)
	}
	switch {
	case err != nil, json.Unmarshal(value, l.of) != nil:
		return nil
	case l.of.Kind == "" && !typed, l.of.Kind != "" && !strings.HasSuffix(l.of.Kind, "List"):
		return nil
	}
	s.advance(n)
	return l
}

// cut emits the items, and then the List without them.
func (l *list) cut() error {
	l.number++
	next, rest := l.nextYAML, l.restYAML
	if l.json {
		next, rest = l.nextJSON, l.restJSON
	}
	for i := 0; ; i++ {
		n, err := next()
		if err == nil {
			err = l.checkLimit(n)
		}
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		d := Document{Place: l.at, JSON: l.json, List: l.of, Item: i}
		d.Text = l.advance(n)
		if err := l.send(d); err != nil {
			return err
		}
	}
	if err := rest(); err != nil {
		return err
	}
	return l.send(Document{Place: l.begin, Text: l.head, JSON: l.json, List: l.of, Item: Rest})
}

// listJSON returns the List at the current position, or nil.
func (s *splitter) listJSON() *list {
	for i := 1; ; {
		i = s.pass(i, ", \t\r\n")
		if !s.fill(i+1) || s.buf[i] != '"' {
			return nil
		}
		n := s.valueJSON(i, longMember)
		if n == 0 {
			return nil
		}
		name := string(s.buf[i : i+n])
		i = s.pass(i+n, ": \t\r\n")
		if name == `"items"` && s.fill(i+1) && s.buf[i] == '[' {
			return s.newList(i+1, bytes.Clone(s.buf[:i+1]), true, s.typedJSON(i+1))
		}
		if n = s.valueJSON(i, longMember); n == 0 {
			return nil
		}
		i += n
	}
}

// typedJSON reports whether the item at i has a kind.
func (s *splitter) typedJSON(i int) bool {
	i = s.pass(i, " \t\r\n")
	n := s.valueJSON(i, longMember)
	var item metav1.TypeMeta
	return n > 0 && json.Unmarshal(s.buf[i:i+n], &item) == nil && item.Kind != ""
}

// valueJSON returns the length of the value at i, or 0 if it does not end within the limit.
func (s *splitter) valueJSON(i, limit int) int {
	for scan := (jsonScan{}); s.fill(i + 1); {
		n, ended := scan.onValue(s.buf[i:])
		switch {
		case ended:
			return n
		case n > limit, i+n == len(s.buf) && !s.more():
			return 0
		}
	}
	return 0
}

// nextJSON skips the space before the next item and returns the item's length, or 0 after the last one. An invalid value ends the items;
// decoding the head then reports the error.
func (l *list) nextJSON() (int, error) {
	l.advance(l.pass(0, ", \t\r\n"))
	if l.fill(1) && l.buf[0] == ']' {
		return 0, nil
	}
	n := l.valueJSON(0, l.limit)
	if n > 0 {
		return n, nil
	}
	if err := l.failure(); err != nil {
		return 0, err
	}
	return 0, l.checkLimit(len(l.buf))
}

// restJSON completes the head.
func (l *list) restJSON() error {
	scan := jsonScan{depth: 2}
	for {
		n, ended := scan.on(l.buf)
		if err := l.checkLimit(n); err != nil {
			return err
		}
		if ended || n == len(l.buf) && !l.more() {
			l.head = append(l.head, l.advance(n)...)
			return nil
		}
	}
}

// yamlItems matches the start of a List's items in YAML, at the beginning of a line.
var yamlItems = regexp.MustCompile(`(?m)^items:[ \t]*\r?\n(( *)- )`)

// listYAML returns the List at the current position, whose first n bytes have been read, or nil. It splits only lists in block style: every
// item begins with a dash in the same column, and its content is indented further.
func (s *splitter) listYAML(n int) *list {
	at := yamlItems.FindSubmatchIndex(s.buf[:n])
	if at == nil {
		return nil
	}
	dash := s.buf[at[2]:at[3]]
	item, _, _ := bytes.Cut(s.buf[at[2]:n], append([]byte("\n"), dash...))
	var items []metav1.TypeMeta
	typed := kubeyaml.Unmarshal(item, &items) == nil && len(items) > 0 && items[0].Kind != ""
	l := s.newList(at[2], append(bytes.TrimRight(bytes.Clone(s.buf[:at[2]]), "\r\n"), " []\n"...), false, typed)
	if l != nil {
		l.dash = at[5] - at[4]
	}
	return l
}

// nextYAML is nextJSON for YAML. It replaces the item's dash with a space.
func (l *list) nextYAML() (int, error) {
	if !l.itemAt(0) {
		return 0, nil
	}
	for i := 0; ; {
		next, goesOn, err := l.lineEnd(i)
		if err != nil {
			return 0, err
		}
		if !goesOn || l.itemAt(next) || l.leaves(next) {
			l.buf[l.dash] = ' '
			return next, nil
		}
		i = next
	}
}

// itemAt reports whether the line at i begins an item.
func (l *list) itemAt(i int) bool {
	return l.fill(i+l.dash+2) && l.pass(i, " ") == i+l.dash && l.buf[i+l.dash] == '-' && strings.IndexByte(" \t\r\n", l.buf[i+l.dash+1]) >= 0
}

// leaves reports whether the line at i has content outside of the items.
func (l *list) leaves(i int) bool {
	end := l.pass(i, " ")
	return l.fill(end+1) && end-i <= l.dash && strings.IndexByte("#\r\n", l.buf[end]) < 0
}

// restYAML is restJSON for YAML.
func (l *list) restYAML() error {
	for i := 0; ; {
		next, goesOn, err := l.lineEnd(i)
		if err != nil {
			return err
		}
		if l.marker(i, "---") || l.marker(i, "...") {
			next, goesOn = i, false
		}
		if i = next; !goesOn {
			l.head = append(l.head, l.advance(i)...)
			l.fresh = true
			return nil
		}
	}
}
