package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licenseNames are those of the files that modules keep their licences in.
var licenseNames = regexp.MustCompile(`(?i)^(licen[cs]e|notice|copying)`)

// licenses returns the licences of the modules that packages are of, and of Go itself.
func licenses(ctx context.Context, packages []pkg) (string, error) {
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	folders := map[string]string{"Go": strings.TrimSpace(string(goroot))}
	for _, p := range packages {
		if p.Module != nil && p.Module.Path != "github.com/podverdict/podverdict" {
			folders[p.Module.Path+" "+p.Module.Version] = p.Module.Dir
		}
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		folder := folders[name]
		entries, err := os.ReadDir(folder)
		if err != nil {
			return "", err
		}
		entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.IsDir() || !licenseNames.MatchString(e.Name()) })
		if len(entries) == 0 {
			return "", fmt.Errorf("%s has no file with its licence", name)
		}
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join(folder, e.Name()))
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&out, "%s, %s\n\n%s\n\n", name, e.Name(), text)
		}
	}
	return out.String(), nil
}
