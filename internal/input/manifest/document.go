package manifest

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/input/documents"
)

// Document is one YAML or JSON document of a file, or an item of a document that is a long List. Errors and findings point to
// it.
type Document struct {
	documents.Document

	// File is the name of the file, "stdin", or the URL.
	File string

	of           *atomic.Int64 // number of documents read from the file so far; nil for a single one
	found, patch bool          // copied from the source

	index sync.Once
	lines []int // offsets of line beginnings; nil until index
	ascii bool  // every character is one byte

	parse     sync.Once
	root      *yaml.Node // nil until parse, and if the text is not YAML
	oddBreaks bool       // YAML counts more lines in the text than it has \n
}

// several reports whether the file has more than one document.
func (d *Document) several() bool { return d.of != nil && d.of.Load() > 1 }

// isItem and isHead report whether the document is an item of a long List, or the rest of the List without its items.
func (d *Document) isItem() bool { return d.List != nil && d.Item != documents.Rest }
func (d *Document) isHead() bool { return d.List != nil && d.Item == documents.Rest }

// within returns the path to an item in its document.
func (d *Document) within() string {
	if !d.isItem() {
		return ""
	}
	return fmt.Sprintf("items[%d]", d.Item)
}

// without returns the document's position without its text.
func (d *Document) without() *Document {
	place := &Document{Document: d.Document, File: d.File, of: d.of}
	place.Text = nil
	return place
}

// implied returns the type of an item of a list such as PodList, which may omit it.
func (d *Document) implied() metav1.TypeMeta {
	if !d.isItem() {
		return metav1.TypeMeta{}
	}
	kind := strings.TrimSuffix(d.List.Kind, "List")
	if kind == "" {
		return metav1.TypeMeta{}
	}
	return metav1.TypeMeta{APIVersion: d.List.APIVersion, Kind: kind}
}
