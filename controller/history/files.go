package history

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/podverdict/podverdict/internal/history"
)

// files are the files of the directory, of which this process writes one at a time.
type files struct {
	Options

	open  *os.File // nil if the next line begins a file
	size  int64
	since time.Time
	// create is os.OpenFile in tests only.
	create func(name string) (*os.File, error)
}

// stamp begins the name of a file, so that files are in the order of their names.
const stamp = "20060102T150405.000Z"

// named matches the names of history files. Other files in the directory are left alone.
var named = regexp.MustCompile(`^\d{8}T\d{6}\.\d{3}Z-.*\.ndjson$`)

// check makes the directory, and finds out whether files can be made in it.
func (f *files) check() error {
	if err := os.MkdirAll(f.Directory, 0o750); err != nil {
		return err
	}
	probe, err := os.CreateTemp(f.Directory, ".probe-")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// list returns the history files, the oldest first.
func (f *files) list() ([]fs.FileInfo, error) {
	entries, err := os.ReadDir(f.Directory) // sorted
	if err != nil {
		return nil, err
	}
	var found []fs.FileInfo
	for _, entry := range entries {
		if !named.MatchString(entry.Name()) {
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // another replica has deleted it
		}
		if err != nil {
			return nil, err
		}
		found = append(found, info)
	}
	return found, nil
}

// each passes on the UIDs of all whole lines.
func (f *files) each(see func(uid string)) error {
	found, err := f.list()
	errs := []error{err}
	for _, info := range found {
		errs = append(errs, eachOf(filepath.Join(f.Directory, info.Name()), see))
	}
	return errors.Join(errs...)
}

func eachOf(name string, see func(uid string)) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 256<<10)
	for {
		line, err := in.ReadSlice('\n')
		uid := history.UID(line)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil // what is behind the last line's end was cut off
		case err != nil:
			return err
		case uid != "":
			see(uid)
		}
	}
}

// write appends lines, and returns when they are safe. A file is full before it has more than MaxFileBytes.
func (f *files) write(text []byte) error {
	if f.open != nil && time.Since(f.since) >= f.MaxFileAge {
		f.close()
	}
	for len(text) > 0 {
		n := len(text)
		if room := f.MaxFileBytes - f.size; int64(n) > room {
			n = bytes.LastIndexByte(text[:room], '\n') + 1
		}
		if n == 0 { // no line is longer than a file
			f.close()
			continue
		}
		if err := f.append(text[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

func (f *files) append(text []byte) error {
	if f.open == nil {
		if err := f.begin(); err != nil {
			return err
		}
	}
	_, err := f.open.Write(text)
	if err == nil {
		err = f.open.Sync()
	}
	if err != nil {
		f.abandon()
		return err
	}
	f.size += int64(len(text))
	return nil
}

// begin makes a file, after it has made room for it.
func (f *files) begin() error {
	if err := f.makeRoom(); err != nil {
		return err
	}
	create := f.create
	if create == nil {
		create = func(name string) (*os.File, error) {
			return os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o640)
		}
	}
	for now := time.Now(); ; now = now.Add(time.Millisecond) {
		file, err := create(filepath.Join(f.Directory, now.UTC().Format(stamp)+"-"+f.Replica+".ndjson"))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			f.open, f.size, f.since = file, 0, time.Now()
			err = f.syncDirectory()
		}
		return err
	}
}

// syncDirectory makes the name of a new file safe. Some file systems cannot, and need not.
func (f *files) syncDirectory() error {
	directory, err := os.Open(f.Directory)
	if err != nil {
		return err
	}
	_ = directory.Sync()
	return directory.Close()
}

// makeRoom deletes the oldest files until there is room for a whole one.
func (f *files) makeRoom() error {
	found, err := f.list()
	total := f.MaxFileBytes
	for _, info := range found {
		total += info.Size()
	}
	for _, info := range found {
		if err != nil || total <= f.MaxBytes {
			break
		}
		if err = os.Remove(filepath.Join(f.Directory, info.Name())); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		total -= info.Size()
	}
	return err
}

// abandon ends a file in which writing has failed, and cuts off what is not whole.
func (f *files) abandon() {
	_ = f.open.Truncate(f.size) // if this fails, readers skip the line
	if f.size == 0 {
		_ = os.Remove(f.open.Name())
	}
	f.close()
}

func (f *files) close() {
	if f.open != nil {
		_ = f.open.Close() // what was written is safe
	}
	f.open, f.size = nil, 0
}
