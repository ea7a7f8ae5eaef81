package main

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"go.yaml.in/yaml/v3"
)

// For all platforms, but with programs of a line: to link them takes minutes.
func TestPlatforms(t *testing.T) {
	r := &release{options: options{source: root, out: t.TempDir()}, work: t.TempDir(), version: "0.1.0", time: time.Unix(1_800_000_000, 0)}
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
			if err := os.WriteFile(r.binary(p, program), []byte(program+" for "+name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, step := range []func() error{
		func() error { return r.writeArchives(t.Context()) }, func() error { return r.writePackages(t.Context()) },
		func() error { return r.writeImages(t.Context()) }, func() error { return r.writeKrew(t.Context()) }, func() error { return r.writeFormula(t.Context()) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("Windows has a zip", func(t *testing.T) { hasZip(t, r) })
	t.Run("krew has each platform once", func(t *testing.T) { krewHasAll(t, r) })
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
	if text, err := io.ReadAll(program); err != nil || string(text) != "podverdict for windows/arm64" {
		t.Errorf("%q: %v", text, err)
	}
}

// krewHasAll holds the manifest to what krew's own validation asks for.
func krewHasAll(t *testing.T, r *release) {
	t.Helper()
	text, err := os.ReadFile(r.file("podverdict.krew.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		APIVersion, Kind string
		Metadata         struct{ Name string }
		Spec             struct {
			Version, ShortDescription string
			Platforms                 []struct {
				Selector         struct{ MatchLabels map[string]string }
				URI, SHA256, Bin string
			}
		}
	}
	// The decoder of YAML takes the names of fields in lower case, and krew's have capitals.
	if err := yaml.Unmarshal([]byte(lowerKeys(string(text))), &manifest); err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, p := range manifest.Spec.Platforms {
		labels := p.Selector.MatchLabels
		platforms = append(platforms, labels["os"]+"/"+labels["arch"])
		if len(p.SHA256) != 64 || len(labels) != 2 || (p.Bin == "podverdict.exe") != (labels["os"] == "windows") || !strings.HasPrefix(p.URI, "https://") {
			t.Errorf("%+v", p)
		}
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(allPlatforms)), slices.Sorted(slices.Values(platforms))); diff != "" {
		t.Error(diff)
	}
	s := manifest.Spec
	if manifest.Metadata.Name != "podverdict" || s.Version != "v0.1.0" || s.ShortDescription == "" || len(s.ShortDescription) > 50 {
		t.Errorf("%+v", manifest)
	}
}

func lowerKeys(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		key, value, found := strings.Cut(line, ":")
		if found {
			key = strings.ToLower(key) + ":"
		}
		lines = append(lines, key+value)
	}
	return strings.Join(lines, "")
}

func imagesHaveBoth(t *testing.T, r *release) {
	t.Helper()
	index, err := layout.ImageIndexFromPath(r.file("images"))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range manifest.Manifests {
		below, err := index.ImageIndex(program.Digest)
		if err != nil {
			t.Fatal(err)
		}
		images, err := below.IndexManifest()
		if err != nil {
			t.Fatal(err)
		}
		var platforms []string
		for _, image := range images.Manifests {
			platforms = append(platforms, image.Platform.String())
		}
		if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, platforms); diff != "" {
			t.Errorf("%v: %s", program.Annotations, diff)
		}
	}
}
