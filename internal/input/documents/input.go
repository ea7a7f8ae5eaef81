package documents

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// blockSize is the maximum number of bytes read at a time. A document retains its entire block in memory. Most files are small,
// so the first block is small, and each following block is twice as large, up to blockSize.
const (
	blockSize  = 256 << 10
	firstBlock = 8 << 10
)

// input is a stream and the part of it that was read but not consumed.
type input struct {
	in    io.Reader
	limit int
	buf   []byte // bytes that were read but not consumed
	block int    // size of the last block
	err   error  // reason why reading stopped: io.EOF at the end
	at    Place
}

// LimitError reports that the document at Place is longer than Limit bytes.
type LimitError struct {
	Place

	Limit int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("larger than the limit of %d MiB for a document", e.Limit>>20)
}

// more reads more input and reports whether there was any.
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

// fill reads until the buffer has n bytes. It returns false if the input ends earlier.
func (s *input) fill(n int) bool {
	for len(s.buf) < n {
		if !s.more() {
			return false
		}
	}
	return true
}

// failure returns the error that ended the input, or nil at the regular end.
func (s *input) failure() error {
	if errors.Is(s.err, io.EOF) {
		return nil
	}
	return s.err
}

// checkLimit returns an error if a document of n bytes is too long.
func (s *input) checkLimit(n int) error {
	if n > s.limit {
		return &LimitError{s.at, s.limit}
	}
	return nil
}

// advance consumes n bytes and returns them.
func (s *input) advance(n int) []byte {
	passed := s.buf[:n:n]
	s.at, s.buf = s.at.After(passed), s.buf[n:]
	return passed
}

// pass returns the offset after the run of the given characters that begins at i.
func (s *input) pass(i int, characters string) int {
	for s.fill(i+1) && strings.IndexByte(characters, s.buf[i]) >= 0 {
		i++
	}
	return i
}

// lineEnd returns the end of the line that begins at i, and whether the input continues there.
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

// marker reports whether the line at i begins with a marker.
func (s *input) marker(i int, text string) bool {
	end := i + len(text)
	return s.fill(end) && string(s.buf[i:end]) == text && (!s.fill(end+1) || strings.IndexByte(" \t\r\n", s.buf[end]) >= 0)
}
