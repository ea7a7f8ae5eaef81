package documents

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Document is one document of a stream, or an item of a document that is a long List.
type Document struct {
	Place

	Text   []byte
	Number int // counts the documents that have content, from 1
	JSON   bool
	// Flow reports JSON that only its braces distinguish from YAML's flow style.
	Flow bool
	// List is set for an item, and for the List without its items, which follows them. It is the type of the List as written before the
	// items; Kind is empty if it is written after them.
	List *metav1.TypeMeta
	// Item is the index of an item in the List, or Rest.
	Item int
}

// Rest is the Item of a List without its items.
const Rest = -1

// Options configure Split.
type Options struct {
	// Limit is the maximum size of a document in bytes.
	Limit int
	// Long is the size in bytes above which the items of a List become documents of their own; 0 disables this.
	Long int
}

type splitter struct {
	input

	long   int
	emit   func(Document) (goOn bool)
	number int
	// fresh is true until a document is found between two YAML markers.
	fresh bool
}

// errStopped ends Split after emit has returned false.
var errStopped = errors.New("stopped")

// Split emits the documents of a stream that have content, in order, until emit returns false. The error is the reader's, or a
// LimitError.
func Split(in io.Reader, o Options, emit func(Document) (goOn bool)) error {
	text, err := decompressed(in)
	if err != nil {
		return err
	}
	defer text.Close()
	s := &splitter{input: input{in: text, limit: o.Limit, at: Place{Line: 1}}, long: o.Long, emit: emit, fresh: true}
	if s.fill(3); bytes.HasPrefix(s.buf, []byte("\xef\xbb\xbf")) {
		s.buf = s.buf[3:]
	}
	for err == nil {
		err = s.next()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// document emits the next n bytes.
func (s *splitter) document(n int, isJSON bool) error {
	if err := s.checkLimit(n); err != nil {
		return err
	}
	s.number++
	d := Document{Place: s.at, JSON: isJSON, Flow: isJSON && s.fresh}
	next := n
	if isJSON && s.fill(n+1) && s.buf[n] == '\n' {
		next++ // the place after a newline is known without counting characters
	}
	d.Text, s.fresh = s.advance(next)[:n:n], false
	return s.send(d)
}

func (s *splitter) send(d Document) error {
	if d.Number = s.number; !s.emit(d) {
		return errStopped
	}
	return nil
}

// next emits the next document, or skips text that is not one. Comments before a document in YAML belong to it. The error is io.EOF
// after the last document.
func (s *splitter) next() error {
	i, err := s.content()
	if err != nil {
		s.advance(len(s.buf))
		return err
	}
	beginsLine := i == 0 && s.at.Column == 0 || i > 0 && s.buf[i-1] == '\n'
	switch {
	case beginsLine && s.marker(i, "..."):
		s.fresh = true
		s.advance(i)
		return s.line()
	case beginsLine && s.marker(i, "---"):
		s.fresh = true
		s.advance(i)
		return s.marked()
	case s.beginsJSON(i):
		s.advance(i)
		return s.json()
	case s.at.Column > 0:
		s.advance(i)
		i = 0
	}
	return s.yaml(i)
}

// content returns the offset of the first text that is neither blank nor a comment. This is the beginning of its line, or the text
// itself if it follows JSON on the same line.
func (s *splitter) content() (int, error) {
	line := 0
	for i := 0; s.fill(i + 1); {
		switch s.buf[i] {
		case '\n':
			i++
			line = i
		case ' ', '\t', '\r':
			i++
		case '#':
			end, _, err := s.lineEnd(i)
			if err != nil {
				return 0, err
			}
			i, line = end, end
		default:
			if s.beginsJSON(i) || line == 0 && s.at.Column > 0 {
				return i, nil
			}
			return line, nil
		}
	}
	return 0, s.err
}

// line skips the rest of the line.
func (s *splitter) line() error {
	n, _, err := s.lineEnd(0)
	s.advance(n)
	return err
}

// marked emits the document after a marker, which may be on the same line. JSON after a marker is left for the next call.
func (s *splitter) marked() error {
	i := s.pass(len("---"), " \t\r")
	switch {
	case !s.fill(i + 1):
		s.advance(i)
		return s.err
	case s.buf[i] == '\n', s.buf[i] == '#':
		return s.line()
	case s.beginsJSON(i):
		s.advance(i)
		return nil
	}
	return s.yaml(0)
}

// beginsJSON reports whether a JSON object begins at i, as opposed to an unquoted object in YAML's flow style.
func (s *splitter) beginsJSON(i int) bool {
	if !s.fill(i+1) || s.buf[i] != '{' {
		return false
	}
	i = s.pass(i+1, " \t\r\n")
	return s.fill(i+1) && (s.buf[i] == '"' || s.buf[i] == '}')
}

// json emits a JSON value, or the items of a long List. An incomplete value is emitted as well; decoding it reports the error.
func (s *splitter) json() error {
	long, scan := s.long, jsonScan{}
	if n := s.lineOfJSON(); n > 0 {
		return s.document(n, true)
	}
	for {
		n, ended := scan.on(s.buf)
		if long > 0 && n > long {
			if l := s.listJSON(); l != nil {
				return l.cut()
			}
			long = 0
		}
		switch {
		case ended:
			return s.document(n, true)
		case scan.beginsLine(s.buf) && s.marker(n, "---"): // JSON cannot have this at the beginning of a line
			return s.document(n, !s.fresh)
		}
		if err := s.checkLimit(n); err != nil {
			return err
		}
		if n == len(s.buf) && !s.more() {
			if err := s.failure(); err != nil {
				return err
			}
			return s.document(n, !s.fresh)
		}
	}
}

// lineOfJSON returns the length of the line if it is a single value, as in NDJSON, but not a long List; else 0. It is faster than
// scanning the value for its end: it checks that the line ends with a brace, that no second object begins on it, and that the next line
// begins with a brace.
func (s *splitter) lineOfJSON() int {
	if s.at.Column > 0 {
		return 0
	}
	most := cmp.Or(s.long, s.limit)
	n := bytes.IndexByte(s.buf, '\n')
	for n < 0 && len(s.buf) <= most && s.more() {
		n = bytes.IndexByte(s.buf, '\n')
	}
	if n < 2 || n > most || s.buf[n-1] != '}' || !s.fill(n+2) || s.buf[n+1] != '{' {
		return 0
	}
	for i := 0; ; i++ {
		if i += bytes.IndexByte(s.buf[i:n], '}') + 1; i == n {
			return n
		}
		for strings.IndexByte(" \t\r", s.buf[i]) >= 0 {
			i++
		}
		if s.buf[i] == '{' {
			return 0
		}
	}
}

// yaml emits the text up to the next marker. Its first line with content begins at content.
func (s *splitter) yaml(content int) error {
	long, directive := s.long, s.buf[content] == '%'
	for i := content; ; {
		next, goesOn, err := s.lineEnd(i)
		switch {
		case err != nil:
			return err
		case i > content && s.endsYAML(i, &directive):
			s.fresh = true
			err := s.document(i, false)
			s.fresh = true
			return err
		case !goesOn:
			return s.document(next, false)
		}
		if i = next; long > 0 && i > long {
			if l := s.listYAML(i); l != nil {
				return l.cut()
			}
			long *= 2
		}
		if err := s.checkLimit(i); err != nil {
			return err
		}
	}
}

// endsYAML reports whether a marker at i ends the document. The first --- after a directive does not.
func (s *splitter) endsYAML(i int, directive *bool) bool {
	begin := s.marker(i, "---")
	if begin && *directive {
		*directive = false
		return false
	}
	return begin || s.marker(i, "...")
}
