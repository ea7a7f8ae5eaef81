package lives

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
	sigsjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/conformance"
)

const (
	jobSection   = "job.yaml"
	stepsSection = "steps.yaml"
)

// document is a life's file, taken apart.
type document struct {
	file     string
	sentence string
	headers  []header
	sections []section
}

type header struct {
	key, value string
	line       int
}

type section struct {
	name string
	data []byte
	line int // of the marker
}

func (d *document) errorAt(line int, err error) error {
	return &conformance.ParseError{File: d.file, Line: line, Err: err}
}

// split takes a file apart into sentence, headers and sections.
func split(file string, data []byte) (*document, error) {
	d := &document{file: file}
	archive := txtar.Parse(data)
	if err := d.splitComment(string(archive.Comment)); err != nil {
		return nil, err
	}
	line := 1 + bytes.Count(archive.Comment, []byte("\n"))
	for _, f := range archive.Files {
		if _, twice := d.section(f.Name); twice {
			return nil, d.errorAt(line, errTwice("section "+f.Name))
		}
		d.sections = append(d.sections, section{name: f.Name, data: f.Data, line: line})
		line += 1 + bytes.Count(f.Data, []byte("\n"))
	}
	return d, nil
}

// splitComment reads the lines before the first section: the sentence, which may take several lines, and then the headers.
func (d *document) splitComment(comment string) error {
	var sentence []string
	for i, text := range strings.Split(strings.TrimSuffix(comment, "\n"), "\n") {
		if !strings.HasPrefix(text, "#") {
			if len(d.headers) > 0 {
				return d.errorAt(i+1, errText(text))
			}
			sentence = append(sentence, strings.TrimSpace(text))
			continue
		}
		key, value, ok := strings.Cut(text[1:], ":")
		if !ok {
			return d.errorAt(i+1, errNoColon(text))
		}
		if slices.ContainsFunc(d.headers, func(h header) bool { return h.key == key }) {
			return d.errorAt(i+1, errTwice("header \"#"+key+"\""))
		}
		d.headers = append(d.headers, header{key: key, value: strings.TrimSpace(value), line: i + 1})
	}
	d.sentence = strings.TrimSpace(strings.Join(sentence, " "))
	if d.sentence == "" {
		return d.errorAt(1, errNoSentence)
	}
	return nil
}

func (d *document) section(name string) (section, bool) {
	i := slices.IndexFunc(d.sections, func(s section) bool { return s.name == name })
	if i < 0 {
		return section{}, false
	}
	return d.sections[i], true
}

// decode reads a section as the API server reads a request that asks it to be strict.
func (d *document) decode(s section, into any) error {
	js, err := yaml.YAMLToJSONStrict(s.data)
	if err == nil {
		var strict []error
		strict, err = sigsjson.UnmarshalStrict(js, into)
		err = errors.Join(append(strict, err)...)
	}
	if err != nil {
		return d.errorAt(s.line, errSection(s.name, err))
	}
	return nil
}
