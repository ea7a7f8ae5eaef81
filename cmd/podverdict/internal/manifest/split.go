package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
)

const (
	// blockSize is how many bytes are read at a time, and held by whoever holds a document in them. The first block is small,
	// as most files are, and each next one is twice as large up to blockSize.
	blockSize  = 256 << 10
	firstBlock = 8 << 10
	// longList is the size from which on the items of a List are documents of their own.
	longList = 1 << 20
)

// splitter cuts a stream into its documents, without decoding them, and long Lists into their items.
type splitter struct {
	in    io.Reader
	name  string
	found bool
	patch bool
	limit int // of one document, in bytes
	// long is how long a List is, in bytes, whose items are documents of their own; 0 is none.
	long int
	emit func(*Document) (goOn bool)

	buf   []byte // what was read, from the place on
	block int    // size of the last block
	err   error  // why nothing more can be read: io.EOF at the end
	at    place
	of    atomic.Int64
	// fresh says that nothing of a chunk, which is what stands between YAML's markers, was a document yet.
	fresh bool
}

// errStopped ends a split whose documents nobody wants any more.
var errStopped = errors.New("stopped")

// split emits the documents that have content, in their order.
func (s *splitter) split() error {
	s.at, s.fresh = place{line: 1}, true
	if s.fill(3); bytes.HasPrefix(s.buf, []byte("\xef\xbb\xbf")) {
		s.buf = s.buf[3:]
	}
	for {
		err := s.next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, errStopped):
			return nil
		case err != nil:
			return err
		}
	}
}

// more reads on. It tells whether there is more.
func (s *splitter) more() bool {
	for s.err == nil {
		if len(s.buf) == cap(s.buf) {
			s.block = min(max(firstBlock, 2*s.block), blockSize)
			grown := make([]byte, len(s.buf), max(s.block, 2*len(s.buf)))
			copy(grown, s.buf)
			s.buf = grown
		}
		n, err := s.in.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf, s.err = s.buf[:len(s.buf)+n], err
		if n > 0 {
			return true
		}
	}
	return false
}

// fill tells whether there are n bytes.
func (s *splitter) fill(n int) bool {
	for len(s.buf) < n {
		if !s.more() {
			return false
		}
	}
	return true
}

// failure returns why the input ends where it does, if that is not its end.
func (s *splitter) failure() error {
	if s.err == nil || errors.Is(s.err, io.EOF) {
		return io.EOF
	}
	return ErrUnreadable(s.name, s.err)
}

// checkLimit refuses a document that has grown to n bytes.
func (s *splitter) checkLimit(n int) error {
	if n <= s.limit {
		return nil
	}
	return fmt.Errorf("%s: larger than the limit of %d MiB for a document", Position{s.name, s.at.line, s.at.column + 1}, s.limit>>20)
}

// advance leaves n bytes behind.
func (s *splitter) advance(n int) { s.at, s.buf = s.at.after(s.buf[:n]), s.buf[n:] }

// document emits the next n bytes.
func (s *splitter) document(n int, isJSON bool) error {
	if err := s.checkLimit(n); err != nil {
		return err
	}
	d := &Document{isJSON: isJSON, mayBeYAML: isJSON && s.fresh, data: s.buf[:n:n], line: s.at.line, column: s.at.column}
	s.of.Add(1)
	s.fresh = false
	s.advance(n)
	return s.send(d)
}

func (s *splitter) send(d *Document) error {
	d.File, d.found, d.patch, d.Number, d.of = s.name, s.found, s.patch, int(s.of.Load()), &s.of
	if !s.emit(d) {
		return errStopped
	}
	return nil
}

// next emits the next document, or passes what is none. Comments before a document in YAML belong to it.
func (s *splitter) next() error {
	i, err := s.content()
	if err != nil {
		s.advance(len(s.buf))
		return err
	}
	beginsLine := i == 0 && s.at.column == 0 || i > 0 && s.buf[i-1] == '\n'
	switch {
	case beginsLine && s.markerAt(i, "..."):
		s.fresh = true
		s.advance(i)
		return s.line()
	case beginsLine && s.markerAt(i, "---"):
		s.fresh = true
		s.advance(i)
		return s.marked()
	case s.beginsJSON(i):
		s.advance(i)
		return s.json()
	case s.at.column > 0:
		s.advance(i)
		i = 0
	}
	return s.yaml(i)
}

// content returns where something else begins than blank lines and comments: a line, or what stands on a line behind JSON.
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
			if s.beginsJSON(i) || line == 0 && s.at.column > 0 {
				return i, nil
			}
			return line, nil
		}
	}
	return 0, s.failure()
}

// line passes the rest of the line.
func (s *splitter) line() error {
	n, _, err := s.lineEnd(0)
	s.advance(n)
	return err
}

// lineEnd returns where the line ends that begins at i, and whether the input goes on there.
func (s *splitter) lineEnd(i int) (end int, goesOn bool, err error) {
	for from := min(i, len(s.buf)); ; {
		if n := bytes.IndexByte(s.buf[from:], '\n'); n >= 0 {
			return from + n + 1, true, nil
		}
		from = len(s.buf)
		if err := s.checkLimit(from); err != nil {
			return from, false, err
		}
		if !s.more() {
			if err := s.failure(); !errors.Is(err, io.EOF) {
				return from, false, err
			}
			return from, false, nil
		}
	}
}

// markerAt tells whether a marker stands at the beginning of the line at i.
func (s *splitter) markerAt(i int, text string) bool {
	if !s.fill(i+len(text)) || string(s.buf[i:i+len(text)]) != text {
		return false
	}
	return !s.fill(i+len(text)+1) || strings.IndexByte(" \t\r\n", s.buf[i+len(text)]) >= 0
}

// marked emits the document behind a marker, which may share its line. JSON behind one is left for the next call.
func (s *splitter) marked() error {
	for i := len("---"); s.fill(i + 1); i++ {
		switch s.buf[i] {
		case ' ', '\t', '\r':
			continue
		case '\n', '#':
			return s.line()
		case '{':
			if s.beginsJSON(i) {
				s.advance(i)
				return nil
			}
		}
		return s.yaml(0)
	}
	s.advance(len(s.buf))
	return s.failure()
}

// beginsJSON tells whether an object in JSON begins at i, and not one in YAML's flow style without quotes.
func (s *splitter) beginsJSON(i int) bool {
	if !s.fill(i+1) || s.buf[i] != '{' {
		return false
	}
	for i++; s.fill(i + 1); i++ {
		switch s.buf[i] {
		case ' ', '\t', '\r', '\n':
		case '"', '}':
			return true
		default:
			return false
		}
	}
	return false
}

// json emits a value in JSON, or the items of a long List. A value that does not end is left to the readers, which say what is wrong.
func (s *splitter) json() error {
	long := s.long
	scan := jsonScan{}
	for {
		n, ended := scan.on(s.buf)
		if long > 0 && n > long {
			if items := s.itemsJSON(); items != nil {
				return items.cut()
			}
			long = 0
		}
		switch {
		case ended:
			return s.document(n, true)
		case scan.marker(s):
			return s.document(n, !s.fresh)
		}
		if err := s.checkLimit(n); err != nil {
			return err
		}
		if n == len(s.buf) && !s.more() {
			if err := s.failure(); !errors.Is(err, io.EOF) {
				return err
			}
			return s.document(n, !s.fresh)
		}
	}
}

// yaml emits what stands before the next marker. Its first line with content begins at content.
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
			if items := s.itemsYAML(i); items != nil {
				return items.cut()
			}
			long *= 2
		}
		if err := s.checkLimit(i); err != nil {
			return err
		}
	}
}

// endsYAML tells whether a marker ends the document before the line at i. The first --- behind a directive does not.
func (s *splitter) endsYAML(i int, directive *bool) bool {
	begin := s.markerAt(i, "---")
	if begin && *directive {
		*directive = false
		return false
	}
	return begin || s.markerAt(i, "...")
}
