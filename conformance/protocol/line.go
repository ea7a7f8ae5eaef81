package protocol

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the maximum length of a line, in bytes without its end: 64 MiB. Longer lines are skipped without storing them.
const MaxLine = 64 << 20

var errLongLine = fmt.Errorf("the line is longer than %d bytes", MaxLine)

// bufferSize is the size of the buffers for input and output. A line that fits is read in place.
const bufferSize = 64 << 10

// lineReader reads lines of bounded length in bounded memory.
type lineReader struct {
	in  *bufio.Reader
	max int
	// long holds a line that does not fit into the buffer.
	long []byte
}

func newLineReader(in io.Reader, longest int) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, bufferSize), max: longest}
}

// next returns the next line without its line end, which may be missing on the last line. The line is valid until the next
// call. If it is longer than the limit, tooLong is true and the line is only its beginning. At the end of input the error
// is io.EOF.
func (r *lineReader) next() (line []byte, tooLong bool, err error) {
	line, err = r.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, tooLong, err = r.nextLong(line)
	}
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = nil // the next call reaches the end again
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), tooLong, err
}

func (r *lineReader) nextLong(begin []byte) (line []byte, tooLong bool, err error) {
	if cap(r.long) > 16*bufferSize {
		r.long = nil // do not retain the memory of one huge line
	}
	r.long = append(r.long[:0], begin...)
	for err = bufio.ErrBufferFull; errors.Is(err, bufio.ErrBufferFull); {
		var part []byte
		part, err = r.in.ReadSlice('\n')
		if tooLong = tooLong || len(r.long)+len(bytes.TrimSuffix(part, []byte("\n"))) > r.max; !tooLong {
			r.long = append(r.long, part...)
		}
	}
	return r.long, tooLong, err
}

// flushReader flushes a writer before every read that may block, so that no response is delayed meanwhile.
type flushReader struct {
	in  io.Reader
	out *bufio.Writer
}

func (r flushReader) Read(p []byte) (int, error) {
	if err := r.out.Flush(); err != nil {
		return 0, err
	}
	return r.in.Read(p)
}
