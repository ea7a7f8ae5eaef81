package suites

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// suffixes are the file name suffixes of suites.
var suffixes = []string{"_test.yaml", "_test.yml", "_test.json"}

// Found is a suite file and the folder in which it was found.
type Found struct{ File, Folder string }

// Find returns the suite files for the given arguments. A file is returned regardless of its name. A directory is searched
// recursively for files with a suite suffix, skipping names that begin with a dot. It may be written like a Go package pattern:
// dir/... The error joins unreadable paths and directories without suites; other suites are still returned.
func Find(arguments []string) ([]Found, error) {
	var all []Found
	var errs []error
	seen := map[string]bool{}
	for _, argument := range arguments {
		name := filepath.Clean(strings.TrimSuffix(argument, "..."))
		info, err := os.Stat(name)
		if err != nil {
			errs = append(errs, manifest.ErrUnreadable(argument, err))
			continue
		}
		found, folder := []string{name}, filepath.Dir(name)
		if info.IsDir() {
			folder = name
			found, err = findBelow(name)
			errs = append(errs, err)
		}
		for _, file := range found {
			if !seen[file] {
				all = append(all, Found{file, folder})
			}
			seen[file] = true
		}
	}
	return all, errors.Join(errs...)
}

func findBelow(dir string) ([]string, error) {
	var found []string
	var errs []error
	root := dir + string(filepath.Separator) // the separator makes WalkDir follow a symbolic link
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			errs = append(errs, manifest.ErrUnreadable(path, err)) // continue with its siblings
		case path != root && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return filepath.SkipDir
			}
		case !entry.IsDir() && nameOf(path) != path:
			found = append(found, path)
		}
		return nil
	})
	if len(errs) == 0 && len(found) == 0 {
		errs = append(errs,
			fmt.Errorf("%s: no suites in this directory or below: they are files named *_test.yaml, *_test.yml or *_test.json", dir))
	}
	return found, errors.Join(errs...)
}

// nameOf returns a file name without the suite suffix.
func nameOf(file string) string {
	for _, suffix := range suffixes {
		if name, ok := strings.CutSuffix(file, suffix); ok {
			return name
		}
	}
	return file
}

// called returns the default name of a suite, derived from its file name.
func called(file string) string {
	name := filepath.Base(nameOf(file))
	return strings.TrimSuffix(name, filepath.Ext(name))
}
