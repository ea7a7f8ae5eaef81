package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Document is one YAML or JSON document of a file: where errors and findings point to.
type Document struct {
	// File is the name of the file, "stdin", or the URL.
	File string
	// Number counts the documents of the file that have content, from 1.
	Number int
	// Of is how many documents the file has.
	Of int

	found  bool // as of a source
	data   []byte
	line   int // line of the file, from 1, on which data begins
	column int // characters before data on that line: JSON values may share a line
	isJSON bool

	mark  sync.Once
	marks []mark // for excerpts; none until then

	parse     sync.Once
	root      *yaml.Node // nil until parse, and when data is not YAML
	yamlLines []place    // nil unless YAML counts more lines in data than there are \n
}

// split cuts a file into its documents; those without content are left out.
func split(s source) ([]*Document, error) {
	var documents []*Document
	for _, chunk := range chunks(s.data) {
		if first := bytes.TrimSpace(chunk.data); first[0] == '{' {
			documents = append(documents, splitJSON(chunk)...)
		} else {
			documents = append(documents, chunk)
		}
		if len(documents) > maxDocuments {
			return nil, fmt.Errorf("%s: more than the limit of %d documents", s.name, maxDocuments)
		}
	}
	for i, d := range documents {
		d.File, d.found, d.Number, d.Of = s.name, s.found, i+1, len(documents)
	}
	return documents, nil
}

// chunks cuts at YAML's document markers, up to one more chunk than a file may have documents. The marker "---" stays with
// what follows, which may share its line.
func chunks(data []byte) []*Document {
	var found []*Document
	current := &Document{line: 1}
	start, line := 0, 1
	cut := func(end, nextStart, nextLine int) {
		if current.data = data[start:end]; hasContent(current.data) {
			found = append(found, current)
		}
		start, current = nextStart, &Document{line: nextLine}
	}
	for offset := 0; offset < len(data) && len(found) <= maxDocuments; line++ {
		next := len(data)
		if i := bytes.IndexByte(data[offset:], '\n'); i >= 0 {
			next = offset + i + 1
		}
		switch {
		case isMarker(data[offset:next], "---") && !hasDirective(data[start:offset]):
			cut(offset, offset, line)
		case isMarker(data[offset:next], "..."):
			cut(offset, next, line+1)
		}
		offset = next
	}
	cut(len(data), len(data), line)
	return found
}

func isMarker(line []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(rest) == 0 || strings.ContainsRune(" \t\r\n", rune(rest[0])))
}

// hasDirective tells whether a chunk is still the head (%YAML, %TAG) of a document whose "---" is to come.
func hasDirective(chunk []byte) bool {
	return bytes.HasPrefix(chunk, []byte("%"))
}

// hasContent tells whether a chunk holds more than comments, blank lines and its marker.
func hasContent(chunk []byte) bool {
	for line := range bytes.Lines(chunk) {
		if isMarker(line, "---") {
			line = line[len("---"):]
		}
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' {
			return true
		}
	}
	return false
}

// splitJSON cuts a chunk into its JSON values. A chunk that does not begin with one stays whole: it is YAML's flow
// style, or wrong in a way that the YAML reader will tell.
func splitJSON(chunk *Document) []*Document {
	var values []*Document
	decoder := json.NewDecoder(bytes.NewReader(chunk.data))
	at, end := place{line: chunk.line}, 0
	for len(values) <= maxDocuments {
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			break
		}
		start := int(decoder.InputOffset()) - len(value)
		at = at.after(chunk.data[end:start])
		values = append(values, &Document{data: value, line: at.line, column: at.column, isJSON: true})
		at, end = at.after(value), start+len(value)
	}
	if len(values) == 0 {
		return []*Document{chunk}
	}
	if rest := chunk.data[end:]; hasContent(rest) {
		trimmed := bytes.TrimLeft(rest, " \t\r\n")
		at = at.after(rest[:len(rest)-len(trimmed)])
		values = append(values, &Document{data: trimmed, line: at.line, column: at.column, isJSON: true})
	}
	return values
}

// place is a line of a file, from 1, and how many characters precede on it.
type place struct{ line, column int }

// after returns the place behind a text that begins at p.
func (p place) after(text []byte) place {
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		p.line += bytes.Count(text, []byte("\n"))
		p.column, text = 0, text[i+1:]
	}
	p.column += utf8.RuneCount(text)
	return p
}
