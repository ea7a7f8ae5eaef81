package main

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// The page is an archive of its folder, with the same bytes whenever it is written.
func TestPlayground(t *testing.T) {
	page := t.TempDir()
	for name, text := range map[string]string{"index.html": "<p>", "engine.wasm": "engine", "engine.wasm.br": "small"} {
		if err := os.WriteFile(filepath.Join(page, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var written [2][]byte
	for i := range written {
		r := &release{options: options{out: t.TempDir(), playground: page}, version: "0.1.0", time: time.Date(2026, 11, 22, 6, 0, 0, 0, time.UTC)}
		if err := r.writePlayground(t.Context()); err != nil {
			t.Fatal(err)
		}
		var err error
		if written[i], err = os.ReadFile(filepath.Join(r.out, "podverdict-playground_0.1.0.zip")); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(page, "index.html"), time.Now(), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(written[0], written[1]) {
		t.Error("the archives differ")
	}
	archive, err := zip.NewReader(bytes.NewReader(written[0]), int64(len(written[0])))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range archive.File {
		names = append(names, file.Name)
	}
	if want := []string{"engine.wasm", "index.html"}; !slices.Equal(names, want) {
		t.Errorf("the archive has %v, want %v", names, want)
	}
}
