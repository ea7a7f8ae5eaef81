package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Folder is a folder of documents <topic>/<reason>.txtar, each of which is parsed to a T.
type Folder[T any] struct {
	Files fs.FS
	Root  string   // the folder in Files
	Other []string // other files and folders below Root
	Read  func(*Document) (T, error)
	// Subject returns what a document says. No two may say the same, because the second would prove nothing.
	Subject func(T) (sentence string, question any)
}

var documentFile = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*/[a-z0-9]+(-[a-z0-9]+)*\.txtar$`)

// Load loads all documents, sorted by name. The error joins a *ParseError for each file with an error. Other files and a
// folder without documents are errors, too.
func (f Folder[T]) Load() ([]T, error) {
	var names []string
	var all []T
	var errs []error
	walk := fs.WalkDir(f.Files, f.Root, func(file string, entry fs.DirEntry, err error) error {
		name := strings.TrimPrefix(file, f.Root+"/")
		other := slices.Contains(f.Other, name)
		switch {
		case err == nil && other && entry.IsDir():
			return fs.SkipDir
		case err != nil || other || entry.IsDir():
			return err
		}
		t, err := f.read(file, name)
		names, all, errs = append(names, file), append(all, t), append(errs, err)
		return nil
	})
	if err := errors.Join(append(errs, walk)...); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no files %s", path.Join(f.Root, "<topic>/<reason>.txtar"))
	}
	return all, f.distinct(names, all)
}

func (f Folder[T]) read(file, name string) (t T, err error) {
	if !documentFile.MatchString(name) {
		return t, &ParseError{File: file, Err: errors.New("unused file; want <topic>/<reason>.txtar in lower-case-with-dashes")}
	}
	data, err := fs.ReadFile(f.Files, file)
	if err != nil {
		return t, &ParseError{File: file, Err: err}
	}
	d, err := Parse(file, data)
	if err != nil {
		return t, err
	}
	return f.Read(d)
}

func (f Folder[T]) distinct(names []string, all []T) error {
	sentences, questions := map[string]string{}, map[string]string{}
	var errs []error
	for i, t := range all {
		sentence, asked := f.Subject(t)
		question, err := json.Marshal(asked)
		if err != nil {
			return err
		}
		if first, ok := sentences[sentence]; ok {
			errs = append(errs, &ParseError{File: names[i], Line: 1, Err: fmt.Errorf("the sentence is that of %s", first)})
		}
		if first, ok := questions[string(question)]; ok {
			errs = append(errs, &ParseError{File: names[i], Err: fmt.Errorf("asks the same question as %s", first)})
		}
		sentences[sentence], questions[string(question)] = names[i], names[i]
	}
	return errors.Join(errs...)
}
