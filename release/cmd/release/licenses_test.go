package main

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLicenses(t *testing.T) {
	root, cache := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(root, "LICENSE"):                                         "BSD\n",
		filepath.Join(cache, "example.com", "a@v1.0.0", "License.txt"):         "MIT\n",
		filepath.Join(cache, "example.com", "a@v1.0.0", "README.md"):           "read me",
		filepath.Join(cache, "example.com", "a@v1.0.0", "copyright", "a.go"):   "package copyright",
		filepath.Join(cache, "example.com", "!big@v1.1.0", "LICENSE"):          "MIT",
		filepath.Join(cache, "example.com", "!big@v1.1.0", "NOTICE"):           "by c",
		filepath.Join(cache, "example.com", "fork@v0.1.0", "COPYING"):          "GPL",
		filepath.Join(cache, "example.com", "unlicensed@v0.1.0", "license.go"): "package unlicensed",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	info := &buildinfo.BuildInfo{GoVersion: "go1.26", Deps: []*debug.Module{
		{Path: "example.com/a", Version: "v1.0.0"}, {Path: "example.com/Big", Version: "v1.1.0"},
		{Path: "example.com/upstream", Version: "v9.0.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v0.1.0"}},
	}}
	got, err := licenses(info, root, cache)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("=", 80)
	want := line + "\nGo go1.26\n\nBSD\n\n" + line + "\nexample.com/a v1.0.0\nexample.com/Big v1.1.0\n\nMIT\n\n" +
		line + "\nexample.com/Big v1.1.0\n\nby c\n\n" + line + "\nexample.com/upstream v9.0.0\n\nGPL\n\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	info.Deps = append(info.Deps, &debug.Module{Path: "example.com/unlicensed", Version: "v0.1.0"})
	if _, err := licenses(info, root, cache); err == nil || !strings.Contains(err.Error(), "example.com/unlicensed v0.1.0 has no license") {
		t.Errorf("a module without a license: %v", err)
	}
}
