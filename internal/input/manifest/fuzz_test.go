package manifest

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// FuzzRead checks that any input yields objects or an error, and that every *Error has a position within the input and an excerpt with a
// caret.
func FuzzRead(f *testing.F) {
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(cases) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, path := range cases {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files[:len(archive.Files)-1] {
			f.Add(file.Data)
		}
	}
	for _, shape := range shapes {
		f.Add([]byte(shape(30)))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		set, err := Read(t.Context(), Options{Filenames: []string{"-"}, Stdin: bytes.NewReader(input)})
		if err == nil && len(set.Jobs)+len(set.Pods)+len(set.Policies)+len(set.Bindings)+len(set.Namespaces)+set.Lists == 0 && set.Skipped.None() {
			t.Fatal("neither objects nor an error")
		}
		lines := bytes.Count(input, []byte("\n")) + 1
		for _, err := range EachError(err) {
			if placed, ok := errors.AsType[*Error](err); ok {
				checkPosition(t, placed.Position(), lines)
				if !strings.HasSuffix(placed.Excerpt(), "^") {
					t.Errorf("%v: no caret in %q", err, placed.Excerpt())
				}
			}
		}
		for _, job := range set.Jobs {
			checkPosition(t, job.Origin.Position("spec.podFailurePolicy"), lines)
		}
		for _, pod := range set.Pods {
			checkPosition(t, pod.Origin.Position(""), lines)
		}
	})
}

func checkPosition(t *testing.T, p Position, lines int) {
	t.Helper()
	if p.File != "stdin" || p.Line < 1 || p.Line > lines || p.Column < 1 {
		t.Errorf("%v is not in a file of %d lines", p, lines)
	}
}
