package documents

import "bytes"

// jsonScan finds the end of a JSON value by counting brackets. It skips everything between them except strings.
type jsonScan struct {
	depth  int
	quoted bool
	read   int // bytes read; the last one may have to be scanned again
}

// The kinds of bytes that a jsonScan stops at.
const (
	plainByte = iota
	quoteByte
	openByte
	closeByte
	lineByte
)

var byteKinds = [256]byte{'"': quoteByte, '{': openByte, '[': openByte, '}': closeByte, ']': closeByte, '\n': lineByte}

// on continues the scan. data begins at the same place as in earlier calls, with more bytes at its end. on returns the end of the
// value, or else the beginning of a line that may be a marker, or else len(data), which means that more data is needed.
func (s *jsonScan) on(data []byte) (n int, ended bool) {
	i := s.read
	for i < len(data) {
		if s.quoted {
			if i, s.quoted = textEnd(data, i); s.quoted {
				break
			}
		}
		for i < len(data) && byteKinds[data[i]] == plainByte {
			i++
		}
		if i == len(data) {
			break
		}
		switch byteKinds[data[i]] {
		case quoteByte:
			s.quoted = true
		case openByte:
			s.depth++
		case closeByte:
			if s.depth--; s.depth == 0 {
				s.read = i + 1
				return i + 1, true
			}
		case lineByte:
			if i+1 >= len(data) || data[i+1] == '-' {
				s.read = i + 1
				return i + 1, false
			}
		}
		i++
	}
	s.read = i
	return len(data), false
}

// onValue is on for values that may also be strings, numbers and literals.
func (s *jsonScan) onValue(data []byte) (n int, ended bool) {
	switch byteKinds[data[0]] {
	case openByte:
		return s.on(data)
	case quoteByte:
		if s.read, s.quoted = textEnd(data, max(s.read, 1)); s.quoted {
			return len(data), false
		}
		return s.read, true
	}
	if n = bytes.IndexAny(data, ",]} \t\r\n"); n < 0 {
		return len(data), false
	}
	return n, true
}

// beginsLine reports whether the scan has stopped at the beginning of a line.
func (s *jsonScan) beginsLine(data []byte) bool {
	return !s.quoted && s.read > 0 && data[s.read-1] == '\n'
}

// textEnd returns the end of the string that continues at i. If the data ends first, open is true and reading has to continue at
// the returned offset.
func textEnd(data []byte, i int) (end int, open bool) {
	for ; i < len(data); i++ {
		switch data[i] {
		case '"':
			return i + 1, false
		case '\\':
			if i+1 == len(data) {
				return i, true
			}
			i++
		}
	}
	return i, true
}
