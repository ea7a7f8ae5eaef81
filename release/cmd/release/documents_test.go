package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func (m made) hasManual(t *testing.T) {
	folder := m.extract(t, "podverdict_0.1.0_"+m.p.String()+".tar.gz")
	pages, err := filepath.Glob(filepath.Join(folder, "man", "*.1"))
	if err != nil || len(pages) < 15 {
		t.Fatalf("%q: %v", pages, err)
	}
	execute(t, ".", "mandoc", append([]string{"-T", "lint", "-W", "warning"}, pages...)...)
	page := string(execute(t, ".", "mandoc", "-T", "ascii", filepath.Join(folder, "man", "podverdict-generate-install.1")))
	if !strings.Contains(page, "podverdict-generate-install - Write the objects") || !strings.Contains(page, "the controller's image; required") {
		t.Errorf("the page is\n%s", page)
	}
}

func TestSection(t *testing.T) {
	const changelog = "# Changes\n\n## 0.2.0\n\nb\n\n## 0.1.0\n\na\n"
	if diff := cmp.Diff([]string{"b\n", "a\n", ""}, []string{section(changelog, "0.2.0"), section(changelog, "0.1.0"), section(changelog, "0.3.0")}); diff != "" {
		t.Error(diff)
	}
}

func TestRoff(t *testing.T) {
	for line, want := range map[string]string{
		"plain": "plain", "--image a-b": `\-\-image a\-b`, `C:\new`: `C:\enew`, ".podverdict.yaml": `\&.podverdict.yaml`, "'*'": `\&'*'`, "": "",
	} {
		if got := roff(line); got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}

func TestUsage(t *testing.T) {
	occupied := t.TempDir()
	if err := os.WriteFile(filepath.Join(occupied, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, arguments := range map[string][]string{
		`"plan9/mips" is not one of linux/amd64`: {"-platforms", "plan9/mips"},
		"say where to with -images":              {"-push"},
		"is not empty":                           {"-o", occupied},
	} {
		if err := run(t.Context(), arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", arguments, err, want)
		}
	}
}
