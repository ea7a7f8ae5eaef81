package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// moduleFile is what go mod edit -json tells of one.
type moduleFile struct {
	Godebug []struct {
		Key   string `json:"Key"`
		Value string `json:"Value"`
	} `json:"Godebug"`
	Require []struct {
		Path    string `json:"Path"`
		Version string `json:"Version"`
	} `json:"Require"`
}

// writeModule writes into the folder a go.mod for the module of the working directory, by which it requires another release of
// Kubernetes and nothing else, and returns its path and its text. The go command adds the rest, at the versions that the release
// requires. Defaults of GODEBUG come from the main module only, so those of the release are copied.
func writeModule(ctx context.Context, folder, version string) (path, text string, err error) {
	own, err := output(ctx, ".", "list", "-m", "-f", "module {{.Path}}\n\ngo {{.GoVersion}}\n")
	if err != nil {
		return "", "", err
	}
	theirs, err := output(ctx, ".", "list", "-m", "-f", "{{.GoMod}}", "k8s.io/kubernetes@"+version)
	if err != nil {
		return "", "", err
	}
	described, err := output(ctx, ".", "mod", "edit", "-json", strings.TrimSpace(theirs))
	if err != nil {
		return "", "", err
	}
	var release moduleFile
	if err := json.Unmarshal([]byte(described), &release); err != nil {
		return "", "", err
	}
	path, text = filepath.Join(folder, "go.mod"), own+release.directives(version)
	return path, text, os.WriteFile(path, []byte(text), 0o600)
}

// directives require the release. It requires its staging modules at v0.0.0, which nobody published.
func (m moduleFile) directives(version string) string {
	var b strings.Builder
	for _, setting := range m.Godebug {
		fmt.Fprintf(&b, "\ngodebug %s=%s\n", setting.Key, setting.Value)
	}
	fmt.Fprintf(&b, "\nrequire k8s.io/kubernetes %s\n\n", version)
	staging := strings.Replace(version, "v1.", "v0.", 1)
	for _, required := range m.Require {
		if required.Version == "v0.0.0" {
			fmt.Fprintf(&b, "replace %s => %s %s\n", required.Path, required.Path, staging)
		}
	}
	return b.String()
}
