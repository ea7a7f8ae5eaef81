package manifest

// jsonScan finds the end of a JSON value by its brackets. What stands between them is not looked at, but for text.
type jsonScan struct {
	depth  int
	quoted bool
	read   int // bytes, of which the last may have to be looked at again
}

// The bytes that a jsonScan stops at.
const (
	plainByte = iota
	quoteByte
	openByte
	closeByte
	lineByte
)

var byteKinds = [256]byte{'"': quoteByte, '{': openByte, '[': openByte, '}': closeByte, ']': closeByte, '\n': lineByte}

// on scans on through data, which begins where it did before and has more at its end. It returns where the value ends, or else where
// a line begins that may be a marker, or else the length of data: there must be more.
func (s *jsonScan) on(data []byte) (n int, ended bool) {
	i := s.read
	for i < len(data) {
		if s.quoted {
			end, closed := textEnd(data, i)
			if i = end; !closed {
				break
			}
			s.quoted = false
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

// marker tells whether the scan has stopped before a marker of YAML, which no JSON has at the beginning of a line.
func (s *jsonScan) marker(in *splitter) bool {
	return !s.quoted && s.read > 0 && in.buf[s.read-1] == '\n' && in.markerAt(s.read, "---")
}

// textEnd returns where a text ends that is read from i on, behind its quote, and whether it does. A text that does not end is to be
// read on where it says.
func textEnd(data []byte, i int) (end int, closed bool) {
	for ; i < len(data); i++ {
		switch data[i] {
		case '"':
			return i + 1, true
		case '\\':
			if i+1 == len(data) {
				return i, false
			}
			i++
		}
	}
	return i, false
}
