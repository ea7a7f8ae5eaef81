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

// suffixes are the ends of the names of suites.
var suffixes = []string{"_test.yaml", "_test.yml", "_test.json"}

// Found is a file with a suite, and the folder that was given for it.
type Found struct{ File, Folder string }

// Find returns the files with suites: those given, whatever their names are, and those of the directories given and of all
// below them that are named as suites are. Names that begin with a dot are left out there. A directory may be written as
// Go's packages are: dir/... The error joins what cannot be read, and directories without suites; the others are found.
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
	root := dir + string(filepath.Separator) // which follows a symbolic link
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			errs = append(errs, manifest.ErrUnreadable(path, err)) // its neighbours can be read
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

// nameOf returns the name of a file without the suffix of suites.
func nameOf(file string) string {
	for _, suffix := range suffixes {
		if name, ok := strings.CutSuffix(file, suffix); ok {
			return name
		}
	}
	return file
}

// called returns the name of a suite without one: that of its file.
func called(file string) string {
	name := filepath.Base(nameOf(file))
	return strings.TrimSuffix(name, filepath.Ext(name))
}
