package document

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// ParseError is an error at a position in the files of vectors or lives.
type ParseError struct {
	File string // below the folder of the vectors or lives
	Line int    // from 1; 0 means the whole file
	Err  error
}

func (e *ParseError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

func (e *ParseError) Unwrap() error { return e.Err }

// Document is a parsed file.
type Document struct {
	File     string
	Sentence string
	Headers  []Header
	Sections []Section
}

// Header is a line "#key: value".
type Header struct {
	Key, Value string
	Line       int
}

// Parse parses a file. Repeated headers or sections and empty headers are errors.
func Parse(file string, data []byte) (*Document, error) {
	d := &Document{File: file}
	archive := txtar.Parse(data)
	if err := d.splitComment(string(archive.Comment)); err != nil {
		return nil, err
	}
	line := 1 + bytes.Count(archive.Comment, []byte("\n"))
	for _, f := range archive.Files {
		if _, twice := d.Section(f.Name); twice {
			return nil, d.ErrorAt(line, fmt.Errorf("section %s appears twice", f.Name))
		}
		d.Sections = append(d.Sections, Section{File: file, Name: f.Name, Data: f.Data, Line: line})
		line += 1 + bytes.Count(f.Data, []byte("\n"))
	}
	return d, nil
}

// splitComment parses the lines before the first section: the sentence, which may span lines, and then the headers.
func (d *Document) splitComment(comment string) error {
	var sentence []string
	for i, text := range strings.Split(strings.TrimSuffix(comment, "\n"), "\n") {
		if !strings.HasPrefix(text, "#") {
			if len(d.Headers) > 0 {
				return d.ErrorAt(i+1, fmt.Errorf("text after the headers: %q", text))
			}
			sentence = append(sentence, strings.TrimSpace(text))
			continue
		}
		key, value, ok := strings.Cut(text[1:], ":")
		if !ok {
			return d.ErrorAt(i+1, fmt.Errorf(`%q is not "key: value"`, text))
		}
		if slices.ContainsFunc(d.Headers, func(h Header) bool { return h.Key == key }) {
			return d.ErrorAt(i+1, fmt.Errorf("header %q appears twice", "#"+key))
		}
		if value = strings.TrimSpace(value); value == "" {
			return d.ErrorAt(i+1, fmt.Errorf("header %q is empty", "#"+key))
		}
		d.Headers = append(d.Headers, Header{Key: key, Value: value, Line: i + 1})
	}
	d.Sentence = strings.TrimSpace(strings.Join(sentence, " "))
	if d.Sentence == "" {
		return d.ErrorAt(1, errors.New("the first line must be the sentence that the file proves"))
	}
	return nil
}

// Section returns the named section. If there is none, the result has Line 0.
func (d *Document) Section(name string) (s Section, ok bool) {
	i := slices.IndexFunc(d.Sections, func(s Section) bool { return s.Name == name })
	if i < 0 {
		return Section{File: d.File, Name: name}, false
	}
	return d.Sections[i], true
}

// ErrorAt returns an error at a line of the file; 0 means the whole file.
func (d *Document) ErrorAt(line int, err error) error {
	return &ParseError{File: d.File, Line: line, Err: err}
}

// RefuseOthers returns an error if a section's name is not a known one.
func (d *Document) RefuseOthers(known []string) error {
	for _, s := range d.Sections {
		if !slices.Contains(known, s.Name) {
			return d.ErrorAt(s.Line, fmt.Errorf("unknown section %q; known are %s", s.Name, strings.Join(known, ", ")))
		}
	}
	return nil
}

// UnknownHeader returns the error for a header with an unknown key.
func (d *Document) UnknownHeader(h Header) error {
	return d.ErrorAt(h.Line, fmt.Errorf("unknown header %q", "#"+h.Key))
}

// WrongHeader returns the error for a header with an invalid value.
func (d *Document) WrongHeader(h Header, value string) error {
	return d.ErrorAt(h.Line, fmt.Errorf("header %q cannot be %q", "#"+h.Key, value))
}

// List returns the comma-separated words in a header's value.
func (h Header) List() []string {
	words := strings.Split(h.Value, ",")
	for i := range words {
		words[i] = strings.TrimSpace(words[i])
	}
	return words
}
