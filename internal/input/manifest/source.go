package manifest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/podverdict/podverdict/internal/input/documents"
)

// maxBytes is how large one document may be, and all that is kept of one file.
const maxBytes = 256 << 20

// longList is the size from which on the items of a List are documents of their own.
const longList = 1 << 20

// Options say what to read.
type Options struct {
	// Filenames are the arguments of -f: a file, a directory, "-" for Stdin, or an http or https URL.
	Filenames []string
	// Recursive descends into the directories below a directory.
	Recursive bool
	// Namespace is where Jobs and Pods without a namespace would be created. "" means "default". The objects are not changed.
	Namespace string
	// Stdin is read for "-", at most once. Messages call it StdinName; "" means "stdin".
	Stdin     io.Reader
	StdinName string
	// Root is the folder that files must be in; nil is none. Neither .. nor a symbolic link leads out of it.
	Root *os.Root
	// Indirect says that a file names the files, not a person: errors then quote nothing that is no manifest.
	Indirect bool
	// Strict refuses what is skipped else: objects of other kinds, templates that are to be rendered, files that are no manifests.
	Strict bool
	// NoPods skips Pods, for a verb that looks at Jobs and policies alone. With Strict, Pods are read all the same.
	NoPods bool
	// At says where objects of other kinds have specs of Jobs: spec.template.spec by kind.
	At map[string]string
	// Parts reads a podFailurePolicy that stands alone as that of a Job.
	Parts bool
}

// source is one file, stream or URL.
type source struct {
	name string
	open func() (io.ReadCloser, error)
	// found is true for a file that the user has not named: it is in a directory, or another file names it.
	found bool
	// patch is true for a file that a kustomization lists as a patch.
	patch bool
}

// sources returns what one -f argument names.
func (o Options) sources(ctx context.Context, filename string) ([]source, error) {
	switch {
	case filename == "-":
		return []source{{name: o.nameOf(filename), open: func() (io.ReadCloser, error) { return io.NopCloser(o.Stdin), nil }, found: o.Indirect}}, nil
	case strings.HasPrefix(filename, "http://"), strings.HasPrefix(filename, "https://"):
		return []source{{name: filename, open: func() (io.ReadCloser, error) { return openURL(ctx, filename) }, found: o.Indirect}}, nil
	}
	file, err := o.open(filename)
	if err != nil {
		return nil, ErrUnreadable(filename, err)
	}
	info, err := file.Stat()
	if err == nil && !info.IsDir() { // opened once: it may be a pipe
		found := []source{{name: filename, open: func() (io.ReadCloser, error) { return file, nil }, found: o.Indirect}}
		o.markPatches(found)
		return found, nil
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, ErrUnreadable(filename, err)
	}
	return o.directory(filename)
}

// directory returns the files of a directory that kubectl would read, in the order of their names.
func (o Options) directory(dir string) ([]source, error) {
	found, err := o.files(dir, nil)
	switch {
	case err != nil:
	case len(found) == 0 && o.Recursive:
		return nil, fmt.Errorf("%s: no .yaml, .yml or .json files in this directory or below", dir)
	case len(found) == 0:
		return nil, fmt.Errorf("%s: no .yaml, .yml or .json files in this directory; -R looks below as well", dir)
	}
	o.markPatches(found)
	return found, err
}

// files appends the files of a directory, and with Recursive those of the directories below it. The error joins those of the
// directories that cannot be read.
func (o Options) files(dir string, found []source) ([]source, error) {
	opened, err := o.open(dir)
	if err != nil {
		return found, ErrUnreadable(dir, err)
	}
	entries, err := opened.ReadDir(-1)
	if err := errors.Join(err, opened.Close()); err != nil {
		return found, ErrUnreadable(dir, err)
	}
	var errs []error
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch {
		case entry.IsDir() && o.Recursive:
			found, err = o.files(path, found)
			errs = append(errs, err)
		case !entry.IsDir() && isManifest(path):
			found = append(found, source{name: path, open: func() (io.ReadCloser, error) { return o.open(path) }, found: true})
		}
	}
	return found, errors.Join(errs...)
}

// SettingsFile is what the settings of a repository are in. It is no manifest.
const SettingsFile = ".podverdict.yaml"

func isManifest(path string) bool {
	return filepath.Base(path) != SettingsFile &&
		slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path))
}

// split emits the documents of the source, and the items of Lists that are longer than long.
func (s source) split(long int, emit func(*Document) bool) error {
	in, err := s.open()
	if err != nil {
		return ErrUnreadable(s.name, err)
	}
	defer in.Close()
	of := new(atomic.Int64)
	err = documents.Split(in, documents.Options{Limit: maxBytes, Long: long}, func(part documents.Document) bool {
		of.Store(int64(part.Number))
		return emit(&Document{Document: part, File: s.name, of: of, found: s.found, patch: s.patch})
	})
	if long, ok := errors.AsType[*documents.LimitError](err); ok {
		return fmt.Errorf("%s: %w", Position{s.name, long.Line, long.Column + 1}, err)
	} else if err != nil {
		return ErrUnreadable(s.name, err)
	}
	return nil
}

// checkUTF8 points at the first byte of a document that is not UTF-8: the YAML reader would not say where it is.
func checkUTF8(d *Document) []error {
	if utf8.Valid(d.Text) {
		return nil
	}
	for offset := 0; ; {
		r, size := utf8.DecodeRune(d.Text[offset:])
		if r == utf8.RuneError && size == 1 {
			at := d.After(d.Text[:offset])
			message := fmt.Sprintf("invalid UTF-8: byte 0x%02x", d.Text[offset])
			return []error{&Error{origin: Origin{Document: d}, at: &Position{d.File, at.Line, at.Column + 1}, Message: message}}
		}
		offset += size
	}
}
