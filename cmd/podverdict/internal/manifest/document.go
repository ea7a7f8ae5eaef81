package manifest

import (
	"bytes"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Document is one YAML or JSON document of a file, or an item of one that is a long List: where errors and findings point to.
type Document struct {
	// File is the name of the file, "stdin", or the URL.
	File string
	// Number counts the documents of the file that have content, from 1.
	Number int

	of    *atomic.Int64 // how many documents of the file have been read; nil for one
	found bool          // as of a source
	patch bool          // as of a source
	// within is the path to an item in its document, and implied the type that the List gives it, once that is settled.
	within  string
	implied metav1.TypeMeta
	settled bool
	isHead  bool // a List that has lost its items

	data   []byte
	line   int // line of the file, from 1, on which data begins
	column int // characters before data on that line: JSON values may share a line
	isJSON bool
	// mayBeYAML is of JSON that nothing but the braces tells from YAML's flow style.
	mayBeYAML bool

	mark  sync.Once
	marks []mark // for excerpts; none until then

	parse     sync.Once
	root      *yaml.Node // nil until parse, and when data is not YAML
	yamlLines []place    // nil unless YAML counts more lines in data than there are \n
}

// several tells whether the file has more than one document.
func (d *Document) several() bool { return d.of != nil && d.of.Load() > 1 }

// without returns the document as a place alone, which keeps nothing of the file.
func (d *Document) without() *Document {
	return &Document{File: d.File, Number: d.Number, of: d.of, within: d.within, line: d.line, column: d.column}
}

// place is a line of a file, from 1, and how many characters precede on it.
type place struct{ line, column int }

// after returns the place behind a text that begins at p.
func (p place) after(text []byte) place {
	if n := bytes.Count(text, []byte("\n")); n > 0 {
		p.line += n
		p.column, text = 0, text[bytes.LastIndexByte(text, '\n')+1:]
	}
	p.column += utf8.RuneCount(text)
	return p
}
