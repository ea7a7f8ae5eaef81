package terminal

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// Writer passes on text that may contain untrusted parts. It writes control characters, invisible characters, and the
// beginnings of CI commands as \uXXXX. Tabs and line ends, including Windows line ends, are kept.
//
// A Writer does not change the meaning of JSON, in which such characters occur only within strings, or of YAML if they are
// within double quotes. It is safe for concurrent use.
type Writer struct {
	mutex sync.Mutex
	to    io.Writer
	rest  []byte // beginning of an incomplete character
	line  lineState
}

// NewWriter returns a Writer that writes to another io.Writer.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Raw returns the destination of a Writer, for output that is trusted as a whole. It returns any other io.Writer unchanged.
func Raw(w io.Writer) io.Writer {
	if safe, ok := w.(*Writer); ok {
		return safe.to
	}
	return w
}

// Write writes text. A character may be split across calls.
func (w *Writer) Write(text []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	var safe []byte
	safe, w.rest = w.line.escaped(append(w.rest, text...))
	if _, err := w.to.Write(safe); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Safe reports whether a Writer would leave the text unchanged.
func Safe(text string) bool {
	var line lineState
	safe, rest := line.escaped([]byte(text))
	return len(rest) == 0 && string(safe) == text
}

// lineState tracks how much of a CI command the current line contains. Commands are "::name::" at the beginning of a line,
// and "##[name]" or "##name[" anywhere.
type lineState struct {
	begun  bool // the line has a character other than spaces and colons
	colon  bool
	hashes int // remains 2 through the letters that follow
}

// escaped returns the escaped text, and the beginning of an incomplete character as rest.
func (s *lineState) escaped(text []byte) (safe, rest []byte) {
	safe = make([]byte, 0, len(text))
	for len(text) > 0 {
		if plain := s.plain(text); plain > 0 {
			safe, text = append(safe, text[:plain]...), text[plain:]
			continue
		}
		r, n := rune(text[0]), 1
		if r >= utf8.RuneSelf {
			if !utf8.FullRune(text) {
				return safe, bytes.Clone(text)
			}
			r, n = utf8.DecodeRune(text)
		}
		endsLine := r == '\n' || r == '\r' && len(text) > 1 && text[1] == '\n'
		if s.commands(r) || !endsLine && r != '\t' && !strconv.IsPrint(r) {
			safe = appendEscape(safe, r)
		} else {
			safe = utf8.AppendRune(safe, r)
		}
		text = text[n:]
	}
	return safe, nil
}

// plain returns the number of leading bytes that need no escaping and do not change the state, which covers most text.
func (s *lineState) plain(text []byte) (n int) {
	if !s.begun || s.hashes > 0 {
		return 0
	}
	for n < len(text) && ' ' <= text[n] && text[n] <= '~' && text[n] != '#' {
		n++
	}
	return n
}

// commands reports whether a character would complete the beginning of a command, and updates the state.
func (s *lineState) commands(r rune) bool {
	switch {
	case r == '\n':
		*s = lineState{}
	case r == ':' && !s.begun:
		if s.colon {
			s.begun = true
			return true
		}
		s.colon = true
	case r == '#':
		s.begun, s.hashes = true, min(s.hashes+1, 2)
	case r == '[' && s.hashes == 2:
		s.hashes = 0
		return true
	case r == ' ' || r == '\t':
		s.begun, s.hashes = s.begun || s.colon, 0
	default:
		s.begun = true
		if s.hashes < 2 || (r|0x20) < 'a' || (r|0x20) > 'z' {
			s.hashes = 0
		}
	}
	return false
}

// appendEscape appends a character in the escaped form of JSON, YAML and Go.
func appendEscape(safe []byte, r rune) []byte {
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		return fmt.Appendf(safe, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(safe, `\u%04x`, r)
}
