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

// Writer passes on text that may hold the words of others: what a terminal would obey, what people cannot see, and what a CI
// system would take for a command of ours is written as \uXXXX. Ends of lines, those of Windows too, and tabs stay.
//
// JSON means the same behind a Writer as before it, for none of these stands outside its strings. So does YAML, where they
// stand in double quotes. A Writer may be used by several goroutines.
type Writer struct {
	mutex sync.Mutex
	to    io.Writer
	rest  []byte // of a character that has begun
	line  lineState
}

// NewWriter returns a Writer that writes to another one.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Raw returns where a Writer writes to, for what is ours from the first byte to the last. Other writers are returned as they are.
func Raw(w io.Writer) io.Writer {
	if safe, ok := w.(*Writer); ok {
		return safe.to
	}
	return w
}

// Write writes text. A character may come in several parts.
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

// Safe reports whether a Writer would write the text as it is.
func Safe(text string) bool {
	var line lineState
	safe, rest := line.escaped([]byte(text))
	return len(rest) == 0 && string(safe) == text
}

// lineState is what stands on the line so far, as far as it may be the beginning of a command of a CI system: "::name::" and,
// anywhere on a line, "##[name]" or "##name[".
type lineState struct {
	begun  bool // something else than space and a colon stands on the line
	colon  bool
	hashes int // 2 stays through the letters that follow
}

// escaped returns the text for people and machines. The rest is a character that has no end yet.
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

// plain returns how many bytes come next that are printed as they are and change nothing: most of most texts.
func (s *lineState) plain(text []byte) (n int) {
	if !s.begun || s.hashes > 0 {
		return 0
	}
	for n < len(text) && ' ' <= text[n] && text[n] <= '~' && text[n] != '#' {
		n++
	}
	return n
}

// commands reports whether a character would make a command of what stands before it.
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

// appendEscape writes a character as JSON, YAML and Go do.
func appendEscape(safe []byte, r rune) []byte {
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		return fmt.Appendf(safe, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(safe, `\u%04x`, r)
}
