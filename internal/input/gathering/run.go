//go:build !js

package gathering

import (
	"errors"
	"fmt"
	"os"

	"github.com/klauspost/compress/s2"
)

// blockBytes is how many bytes of a run are compressed together, and read at once.
const blockBytes = 64 << 10

// storage is the temporary file that holds sorted runs.
type storage struct {
	file *os.File // nil until the first run
	end  int64
}

// write appends a sorted run.
func (s *storage) write(dir string, entries []entry) (r run, err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp(dir, "podverdict-*"); err != nil {
			return r, fmt.Errorf("create a temporary file for what does not fit into memory: %w", err)
		}
		_ = os.Remove(s.file.Name()) // where an open file cannot be removed, Close removes it
	}
	var plain, compressed []byte
	flush := func() error {
		compressed = s2.Encode(compressed[:cap(compressed)], plain)
		if _, err := s.file.WriteAt(compressed, s.end); err != nil {
			return fmt.Errorf("write what does not fit into memory to a temporary file: %w", err)
		}
		r = append(r, block{s.end, len(compressed)})
		s.end += int64(len(compressed))
		plain = plain[:0]
		return nil
	}
	for _, e := range entries {
		plain = append(appendSize(plain, len(e.key)), e.key...)
		plain = append(appendSize(plain, len(e.encoded)), e.encoded...)
		if len(plain) >= blockBytes {
			if err := flush(); err != nil {
				return r, err
			}
		}
	}
	return r, flush()
}

// run is a part of the file whose entries are sorted.
type run []block

type block struct {
	offset int64
	size   int
}

// entries returns a function that reads the entries of a run one after another. An entry is valid until the next call.
func (s *storage) entries(r run) func() (entry, bool, error) {
	var compressed, plain, rest []byte
	return func() (e entry, more bool, err error) {
		if len(rest) == 0 {
			if len(r) == 0 {
				return e, false, nil
			}
			compressed = append(compressed[:0], make([]byte, r[0].size)...)
			if _, err := s.file.ReadAt(compressed, r[0].offset); err != nil {
				return e, false, fmt.Errorf("read a temporary file: %w", err)
			}
			if plain, err = s2.Decode(plain[:cap(plain)], compressed); err != nil {
				return e, false, fmt.Errorf("read a temporary file: %w", err)
			}
			rest, r = plain, r[1:]
		}
		var complete, also bool
		if e.key, rest, complete = cutSized(rest); complete {
			e.encoded, rest, also = cutSized(rest)
		}
		if !complete || !also {
			return e, false, errRecord
		}
		return e, true, nil
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
