package main

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// For all platforms, but with programs of a line: to link them takes minutes.
func TestPlatforms(t *testing.T) {
	r := &release{options: options{source: root, out: t.TempDir()}, work: t.TempDir(), version: "0.1.0", time: time.Unix(1_800_000_000, 0)}
	// A bill of materials is read from a program of Go.
	source, program := filepath.Join(r.work, "main.go"), filepath.Join(r.work, "program")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	execute(t, r.work, "go", "build", "-o", program, source)
	linked, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range allPlatforms {
		p, err := parsePlatform(name)
		if err != nil {
			t.Fatal(err)
		}
		r.platforms = append(r.platforms, p)
		for _, program := range p.programs() {
			if err := os.MkdirAll(filepath.Dir(r.binary(p, program)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(r.work, kubectlComplete), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(r.binary(p, program), slices.Concat(linked, []byte(program+" for "+name)), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, step := range []func() error{
		func() error { return r.writeLicenses(t.Context()) }, func() error { return r.writeArchives(t.Context()) }, func() error { return r.writePackages(t.Context()) },
		func() error { return r.writeImages(t.Context()) }, func() error { return r.writeKrew(t.Context()) }, func() error { return r.writeFormula(t.Context()) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("Windows has a zip", func(t *testing.T) { hasZip(t, r) })
	t.Run("krew installs each", func(t *testing.T) { krewInstalls(t, r) })
	t.Run("Homebrew has four archives", func(t *testing.T) {
		text, err := os.ReadFile(r.file("podverdict.rb"))
		if err != nil || strings.Count(string(text), "sha256 ") != 4 || strings.Contains(string(text), "windows") {
			t.Errorf("%v\n%s", err, text)
		}
	})
	t.Run("images have two architectures", func(t *testing.T) { imagesHaveBoth(t, r) })
}

// A version that nobody has described is no release; a commit between two versions may be built.
func TestReleaseIsDescribed(t *testing.T) {
	for version, want := range map[string]bool{"0.1.0": true, "0.0.7": false, "0.0.0-20261123100456-ebe21039ace1": true} {
		r := &release{options: options{source: root, out: t.TempDir()}, version: version}
		if err := r.writeNotes(t.Context()); (err == nil) != want {
			t.Errorf("%s: %v", version, err)
		}
	}
}

func hasZip(t *testing.T, r *release) {
	t.Helper()
	archive, err := zip.OpenReader(r.file("podverdict_0.1.0_windows_arm64.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	program, err := archive.Open("podverdict.exe")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(program); err != nil || !bytes.HasSuffix(text, []byte("podverdict for windows/arm64")) {
		t.Errorf("%d bytes: %v", len(text), err)
	}
}

// krewInstalls has krew validate the manifest, as its index does, and install the archive of each platform.
func krewInstalls(t *testing.T, r *release) {
	t.Helper()
	manifest, named := r.file("podverdict.krew.yaml"), filepath.Join(t.TempDir(), "podverdict.yaml")
	if err := os.Link(manifest, named); err != nil {
		t.Fatal(err)
	}
	execute(t, ".", "go", "tool", "validate-krew-manifest", "-skip-install", "-manifest", named)
	for _, p := range r.platforms {
		folder := t.TempDir()
		t.Setenv("KREW_ROOT", folder)
		t.Setenv("KREW_OS", p.os)
		t.Setenv("KREW_ARCH", p.arch)
		execute(t, ".", "go", "tool", "krew", "install", "--manifest", manifest, "--archive", r.archive(p, cli))
		text, err := os.ReadFile(filepath.Join(folder, "bin", p.program("kubectl-podverdict")))
		if err != nil || !bytes.HasSuffix(text, []byte("podverdict for "+p.os+"/"+p.arch)) {
			t.Errorf("%s: %d bytes: %v", p, len(text), err)
		}
	}
}

func imagesHaveBoth(t *testing.T, r *release) {
	t.Helper()
	for _, program := range []string{cli, controller} {
		images, err := made{out: r.out}.index(t, program+":v0.1.0").IndexManifest()
		if err != nil {
			t.Fatal(err)
		}
		var platforms []string
		for _, image := range images.Manifests {
			platforms = append(platforms, image.Platform.String())
		}
		if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, platforms); diff != "" {
			t.Errorf("%s: %s", program, diff)
		}
	}
}
