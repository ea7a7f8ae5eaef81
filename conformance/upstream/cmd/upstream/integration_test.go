package main

import (
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// TestEdits tests that the edits match the tests of the version that go.mod requires, and produce valid Go.
func TestEdits(t *testing.T) {
	s, err := findSuite(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.edited()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if file.Name.Name != "integration" {
			t.Errorf("%s is of package %s", name, file.Name.Name)
		}
	}
	if ours, err := s.ours(); err != nil || len(ours) > 0 {
		t.Errorf("%d of our own files are edited for the newest release, error %v", len(ours), err)
	}
	older := s
	older.version = "v1.36.0"
	ours, err := older.ours()
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range ours {
		if _, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution); err != nil {
			t.Error(err)
		}
	}
	if len(ours) == 0 {
		t.Error("none of our own files is edited for an older release")
	}
	newest := slices.DeleteFunc(slices.Clone(exclusions), func(e exclusion) bool { return e.before != nil })
	if found := notApplicable(s.version, files["job_test.go"]); len(found) != len(newest) {
		t.Errorf("%d exclusions are of tests of %s, want %d", len(found), s.version, len(newest))
	}
}
