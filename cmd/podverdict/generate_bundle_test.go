package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBundleIsReproducible checks that entries have no time and no owner, and that tests are excluded.
func TestBundleIsReproducible(t *testing.T) {
	name := filepath.Join(t.TempDir(), "bundle.tar.gz")
	mustRun(t, "generate", "bundle", "-o", name)
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.ModTime.Unix() != 0 || header.Uid != 0 || header.Uname != "" {
			t.Errorf("%s has a time or an owner: %+v", header.Name, header)
		}
		if strings.HasSuffix(header.Name, "_test.rego") {
			t.Errorf("%s is a test", header.Name)
		}
		names = append(names, header.Name)
	}
	for _, want := range []string{"/.manifest", "/data.json", "/main/main.rego", "/gatekeeper/guardrails-templates/guardrails-templates.yaml"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is missing: %v", want, names)
		}
	}
}
