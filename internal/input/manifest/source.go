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

// maxBytes limits the size of one document, and the total size of the kept documents of one file.
const maxBytes = 256 << 20

// longList is the size above which the items of a List become documents of their own.
const longList = 1 << 20

// Options select the input and how to read it.
type Options struct {
	// Filenames holds the arguments of -f: a file, a directory, "-" for Stdin, or an http or https URL.
	Filenames []string
	// Recursive includes subdirectories.
	Recursive bool
	// Namespace is the default namespace of Jobs and Pods without one. "" means "default". The objects are not changed.
	Namespace string
	// Stdin is read for "-", at most once. Messages call it StdinName; "" means "stdin".
	Stdin     io.Reader
	StdinName string
	// Root is the directory that files must be in; nil means no restriction. Neither .. nor a symbolic link leads out of it.
	Root *os.Root
	// Indirect reports that another file, not the user, named the files: errors then quote only manifests.
	Indirect bool
	// Strict rejects input that is otherwise skipped: objects of other kinds, unrendered templates, files that are not manifests.
	Strict bool
	// NoPods skips Pods, for verbs that need only Jobs and policies. With Strict, Pods are read anyway.
	NoPods bool
	// At maps other kinds to the path of their Job spec, such as spec.template.spec.
	At map[string]string
	// Parts reads a standalone podFailurePolicy as the policy of a Job.
	Parts bool
}

// source is one file, stream or URL.
type source struct {
	name string
	open func() (io.ReadCloser, error)
	// found is true for a file that the user did not name: it is in a directory, or another file names it.
	found bool
	// patch is true for a file that a kustomization lists as a patch.
	patch bool
}

// sources returns the sources that one -f argument names.
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
	if err == nil && !info.IsDir() { // opened only once because it may be a pipe
		found := []source{{name: filename, open: func() (io.ReadCloser, error) { return file, nil }, found: o.Indirect}}
		o.markPatches(found)
		return found, nil
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, ErrUnreadable(filename, err)
	}
	return o.directory(filename)
}

// directory returns the files of a directory that kubectl would read, sorted by name.
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

// files appends the files of a directory, and with Recursive the files of its subdirectories. The error joins one error per unreadable
// directory.
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

// SettingsFile is the name of a repository's settings file, which is not a manifest.
const SettingsFile = ".podverdict.yaml"

func isManifest(path string) bool {
	return filepath.Base(path) != SettingsFile &&
		slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path))
}

// split emits the documents of the source, and the items of Lists longer than long bytes.
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

// checkUTF8 reports the first byte of a document that is not UTF-8: the YAML reader does not report its position.
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
