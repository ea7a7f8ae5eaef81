package conformance

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/podverdict/podverdict/compiler"
)

// The sections of a vector.
const (
	rulesSection   = "rules.yaml"
	patchSection   = "pod.patch"
	verdictSection = "verdict.yaml"
)

// verdictSections are those of a vector that asks for a verdict.
func verdictSections() []string { return []string{rulesSection, patchSection, verdictSection} }

// document is a vector's file, taken apart.
type document struct {
	file     string
	sentence string
	headers  []header
	sections map[string]section
}

type header struct {
	key, value string
	line       int
}

type section struct {
	data []byte
	line int // of the marker
}

func (d *document) errorAt(line int, err error) error {
	return &ParseError{File: d.file, Line: line, Err: err}
}

// split takes a file apart into sentence, headers and sections, all of them known.
func split(file string, data []byte, known []string) (*document, error) {
	d := &document{file: file, sections: map[string]section{}}
	archive := txtar.Parse(data)
	if err := d.splitComment(string(archive.Comment)); err != nil {
		return nil, err
	}
	line := 1 + bytes.Count(archive.Comment, []byte("\n"))
	for _, f := range archive.Files {
		if !slices.Contains(known, f.Name) {
			return nil, d.errorAt(line, errUnknownSection(f.Name, known))
		}
		if _, twice := d.sections[f.Name]; twice {
			return nil, d.errorAt(line, errTwice("section "+f.Name))
		}
		d.sections[f.Name] = section{data: f.Data, line: line}
		line += 1 + bytes.Count(f.Data, []byte("\n"))
	}
	return d, nil
}

// splitComment reads the lines before the first section: the sentence, which may
// take several lines, and then the headers.
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
		h := header{key: key, value: strings.TrimSpace(value), line: i + 1}
		if slices.ContainsFunc(d.headers, func(o header) bool { return o.key == h.key }) {
			return d.errorAt(h.line, errTwice("header \"#"+key+"\""))
		}
		d.headers = append(d.headers, h)
	}
	d.sentence = strings.TrimSpace(strings.Join(sentence, " "))
	if d.sentence == "" {
		return d.errorAt(1, errNoSentence)
	}
	return nil
}

// readHeaders fills in what the headers say, and reports whether the Job has no
// policy.
func (d *document) readHeaders(v *Vector) (nilPolicy bool, err error) {
	v.Sentence = d.sentence
	for _, h := range d.headers {
		if h.value == "" {
			return false, d.errorAt(h.line, errEmptyHeader(h.key))
		}
		if err := readHeader(v, h); err != nil {
			return false, d.errorAt(h.line, err)
		}
		nilPolicy = nilPolicy || h.key == "policy"
	}
	switch {
	case v.KEP == "":
		return false, d.errorAt(1, errMissingHeader("kep"))
	case len(v.Features) == 0:
		return false, d.errorAt(1, errMissingHeader("features"))
	}
	return nilPolicy, nil
}

// item is a case of the matching semantics: A.1 to A.29.
var item = regexp.MustCompile(`^A\.([1-9]|1[0-9]|2[0-9])$`)

func readHeader(v *Vector, h header) error {
	switch h.key {
	case "kep":
		v.KEP = h.value
	case "semantics":
		for _, name := range fields(h.value) {
			if !item.MatchString(name) || slices.Contains(v.Semantics, name) {
				return errHeaderValue(h.key, name)
			}
			v.Semantics = append(v.Semantics, name)
		}
	case "features":
		for _, name := range fields(h.value) {
			if !slices.Contains(Features(), Feature(name)) {
				return errUnknownFeature(name)
			}
			if slices.Contains(v.Features, Feature(name)) {
				return errTwice("feature " + name)
			}
			v.Features = append(v.Features, Feature(name))
		}
	case "kubernetes":
		minor, err := compiler.ParseVersion(h.value)
		if err != nil {
			return err
		}
		v.Kubernetes = minor.String()
	case "upstream":
		v.Upstream = h.value
	case "policy":
		if h.value != "nil" {
			return errHeaderValue(h.key, h.value)
		}
	default:
		return errUnknownHeader(h.key)
	}
	return nil
}

func fields(list string) []string {
	names := strings.Split(list, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}
