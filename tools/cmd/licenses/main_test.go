package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestWrite(t *testing.T) {
	folder := fstest.MapFS{"LICENCE": {Data: []byte("a\n")}, "main.go": {Data: []byte("b\n")}, "Notice.txt": {Data: []byte("c\n")}, "licenses/a.txt": {}}
	var out strings.Builder
	if err := write(&out, folder, "m v1"); err != nil {
		t.Fatal(err)
	}
	if want := "m v1, LICENCE\n\na\n\n\nm v1, Notice.txt\n\nc\n\n\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// A release that lacks the license of a dependency must not be built.
func TestWithoutLicense(t *testing.T) {
	if err := write(&strings.Builder{}, fstest.MapFS{}, "m v1"); err == nil || !strings.Contains(err.Error(), "m v1: no license") {
		t.Errorf("%v, want m v1: no license", err)
	}
}
