//go:build !js

package gathering

import (
	"errors"
	"fmt"
	"os"

	"github.com/klauspost/compress/s2"
)

// blockBytes is the number of bytes of a run that are compressed together and read at once.
const blockBytes = 64 << 10

// storage is the temporary file that holds sorted runs.
type storage struct {
	file *os.File // nil until the first run
	end  int64
}

// room returns the file, which it creates first, and where in it the next bytes are to be written.
func (s *storage) room(dir string, size int) (file *os.File, offset int64, err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp(dir, "podverdict-*"); err != nil {
			return nil, 0, fmt.Errorf("create a temporary file for what does not fit into memory: %w", err)
		}
		_ = os.Remove(s.file.Name()) // where an open file cannot be removed, close removes it
	}
	offset = s.end
	s.end += int64(size)
	return s.file, offset, nil
}

// write adds a sorted run to the file.
func (s *storage) write(dir string, all []packed) (r run, err error) {
	var plain, compressed []byte
	flush := func() error {
		compressed = s2.Encode(compressed[:cap(compressed)], plain)
		file, offset, err := s.room(dir, len(compressed))
		if err != nil {
			return err
		}
		if _, err := file.WriteAt(compressed, offset); err != nil {
			return fmt.Errorf("write what does not fit into memory to a temporary file: %w", err)
		}
		r = append(r, block{offset, len(compressed)})
		plain = plain[:0]
		return nil
	}
	for _, p := range all {
		plain = append(appendSize(plain, len(p.key)), p.key...)
		plain = append(appendSize(plain, len(p.encoded)), p.encoded...)
		if len(plain) >= blockBytes {
			if err := flush(); err != nil {
				return r, err
			}
		}
	}
	return r, flush()
}

// run is a sorted sequence of records in the file.
type run []block

type block struct {
	offset int64
	size   int
}

// open returns, for each run, a function that reads its records one after another.
func (s *storage) open(runs []run) (readers []nextPacked) {
	for _, r := range runs {
		readers = append(readers, s.read(r))
	}
	return readers
}

func (s *storage) read(r run) nextPacked {
	var compressed, rest []byte
	return func() (p packed, more bool, err error) {
		if len(rest) == 0 {
			if len(r) == 0 {
				return p, false, nil
			}
			compressed = append(compressed[:0], make([]byte, r[0].size)...)
			if _, err := s.file.ReadAt(compressed, r[0].offset); err != nil {
				return p, false, fmt.Errorf("read a temporary file: %w", err)
			}
			if rest, err = s2.Decode(nil, compressed); err != nil { // records outlive the block
				return p, false, fmt.Errorf("read a temporary file: %w", err)
			}
			r = r[1:]
		}
		var complete, also bool
		if p.key, rest, complete = cutSized(rest); complete {
			p.encoded, rest, also = cutSized(rest)
		}
		if !complete || !also {
			return p, false, errRecord
		}
		return p, true, nil
	}
}

func (s *storage) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if gone := os.Remove(s.file.Name()); !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	s.file = nil
	return err
}
