package manifest

import (
	"strings"
	"testing"
)

// documentsOf splits a file.
func documentsOf(t *testing.T, text string) []*Document {
	t.Helper()
	var documents []*Document
	s := splitter{in: strings.NewReader(text), name: "f", limit: MaxBytes, emit: func(d *Document) bool {
		documents = append(documents, d)
		return true
	}}
	if err := s.split(); err != nil {
		t.Fatal(err)
	}
	return documents
}
