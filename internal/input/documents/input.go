package documents

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// blockSize is the number of bytes that are read at a time. A document keeps the whole block in memory that it lies in. The first
// block is small, as most files are, and each following one is twice as large, up to blockSize.
const (
	blockSize  = 256 << 10
	firstBlock = 8 << 10
)

// input is a stream, and the part of it that was read but not passed yet.
type input struct {
	in    io.Reader
	limit int
	buf   []byte // from at on
	block int    // size of the last block
	err   error  // why nothing more can be read: io.EOF at the end
	at    Place
}

// LimitError says that a document, which begins at a place, is longer than Limit bytes.
type LimitError struct {
	Place

	Limit int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("larger than the limit of %d MiB for a document", e.Limit>>20)
}

// more reads on, and reports whether there was more.
func (s *input) more() bool {
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

// fill reads until the buffer has n bytes. It returns false if the input ends before.
func (s *input) fill(n int) bool {
	for len(s.buf) < n {
		if !s.more() {
			return false
		}
	}
	return true
}

// failure returns why the input ends where it does, if that is not its end.
func (s *input) failure() error {
	if errors.Is(s.err, io.EOF) {
		return nil
	}
	return s.err
}

// checkLimit refuses a document that has grown to n bytes.
func (s *input) checkLimit(n int) error {
	if n > s.limit {
		return &LimitError{s.at, s.limit}
	}
	return nil
}

// advance leaves n bytes behind, and returns them.
func (s *input) advance(n int) []byte {
	passed := s.buf[:n:n]
	s.at, s.buf = s.at.After(passed), s.buf[n:]
	return passed
}

// pass returns where the characters end that begin at i.
func (s *input) pass(i int, characters string) int {
	for s.fill(i+1) && strings.IndexByte(characters, s.buf[i]) >= 0 {
		i++
	}
	return i
}

// lineEnd returns where the line ends that begins at i, and whether the input goes on there.
func (s *input) lineEnd(i int) (end int, goesOn bool, err error) {
	for from := min(i, len(s.buf)); ; {
		if n := bytes.IndexByte(s.buf[from:], '\n'); n >= 0 {
			return from + n + 1, true, nil
		}
		from = len(s.buf)
		if err := s.checkLimit(from); err != nil {
			return from, false, err
		}
		if !s.more() {
			return from, false, s.failure()
		}
	}
}

// marker reports whether a marker stands at the beginning of the line at i.
func (s *input) marker(i int, text string) bool {
	end := i + len(text)
	return s.fill(end) && string(s.buf[i:end]) == text && (!s.fill(end+1) || strings.IndexByte(" \t\r\n", s.buf[end]) >= 0)
}
