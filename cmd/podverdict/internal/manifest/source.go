package manifest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxBytes is how much one file, stream or URL may hold unless Options say otherwise: 256 MiB.
const MaxBytes = 256 << 20

// urlTimeout bounds the reading of one URL, body included.
const urlTimeout = 60 * time.Second

// Options say what to read.
type Options struct {
	// Filenames are the arguments of -f: a file, a directory, "-" for Stdin, or an http or https URL.
	Filenames []string
	// Recursive descends into the directories below a directory.
	Recursive bool
	// Namespace is where Jobs and Pods without a namespace would be created. "" means "default". The objects are not changed.
	Namespace string
	// Stdin is read for "-", at most once.
	Stdin io.Reader
	// Root is the folder that files must be in; nil is none. Neither .. nor a symbolic link leads out of it.
	Root *os.Root
	// Indirect says that a file names the files, not a person: errors then quote nothing that is no manifest.
	Indirect bool
	// Strict refuses what is skipped else: objects of other kinds, templates that are to be rendered, files that are no manifests.
	Strict bool
	// At says where objects of other kinds have specs of Jobs: spec.template.spec by kind.
	At map[string]string
	// MaxBytes bounds each file, stream or URL; 0 means the package's MaxBytes.
	MaxBytes int64
}

// source is one file, stream or URL, read whole.
type source struct {
	name string
	data []byte
	// found is true for a file that the user has not named: it is in a directory, or another file names it.
	found bool
}

// sources reads what one -f argument names.
func (o Options) sources(ctx context.Context, filename string) ([]source, error) {
	switch {
	case filename == "-":
		return o.one("stdin", func() ([]byte, error) { return o.readAll("stdin", o.Stdin) })
	case strings.HasPrefix(filename, "http://"), strings.HasPrefix(filename, "https://"):
		return o.one(filename, func() ([]byte, error) { return o.readURL(ctx, filename) })
	}
	info, err := disk{o.Root}.stat(filename)
	if err != nil {
		return nil, ErrUnreadable(filename, err)
	}
	if info.IsDir() {
		return o.readDir(filename)
	}
	return o.one(filename, func() ([]byte, error) { return o.readFile(filename) })
}

func (o Options) one(name string, read func() ([]byte, error)) ([]source, error) {
	data, err := read()
	if err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if err := checkUTF8(name, data); err != nil {
		return nil, err
	}
	return []source{{name, data, o.Indirect}}, nil
}

// readDir reads the files of a directory that kubectl would read, in the order of their names.
func (o Options) readDir(dir string) ([]source, error) {
	var found []source
	var failures []error
	root := dir + string(filepath.Separator) // which follows a symbolic link
	err := disk{o.Root}.walk(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && !o.Recursive:
			return filepath.SkipDir
		case entry.IsDir() || !isManifest(path):
			return nil
		}
		files, err := o.one(path, func() ([]byte, error) { return o.readFile(path) })
		for _, file := range files {
			file.found = true
			found = append(found, file)
		}
		failures = append(failures, err)
		return nil
	})
	if err != nil {
		failures = append(failures, ErrUnreadable(dir, err))
	}
	if err := errors.Join(failures...); err != nil {
		return found, err
	}
	switch {
	case len(found) == 0 && o.Recursive:
		return nil, fmt.Errorf("%s: no .yaml, .yml or .json files in this directory or below", dir)
	case len(found) == 0:
		return nil, fmt.Errorf("%s: no .yaml, .yml or .json files in this directory; -R looks below as well", dir)
	}
	return found, nil
}

func isManifest(path string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path))
}

func (o Options) readFile(path string) ([]byte, error) {
	file, err := disk{o.Root}.open(path)
	if err != nil {
		return nil, ErrUnreadable(path, err)
	}
	defer file.Close()
	return o.readAll(path, file)
}

func (o Options) readURL(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, urlTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, ErrUnreadable(url, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, ErrUnreadable(url, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: cannot read: the server answered %s", url, response.Status)
	}
	return o.readAll(url, response.Body)
}

func (o Options) readAll(name string, r io.Reader) ([]byte, error) {
	limit := o.MaxBytes
	if limit == 0 {
		limit = MaxBytes
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, ErrUnreadable(name, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: larger than the limit of %d MiB", name, limit>>20)
	}
	return data, nil
}

// checkUTF8 points at the first byte that is not UTF-8: the YAML reader would not say where it is.
func checkUTF8(name string, data []byte) error {
	if utf8.Valid(data) {
		return nil
	}
	for offset := 0; ; {
		r, size := utf8.DecodeRune(data[offset:])
		if r == utf8.RuneError && size == 1 {
			at := place{line: 1}.after(data[:offset])
			return fmt.Errorf("%s:%d:%d: invalid UTF-8: byte 0x%02x", name, at.line, at.column+1, data[offset])
		}
		offset += size
	}
}
