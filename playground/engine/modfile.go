package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// pkg is a package as go list prints it.
type pkg struct {
	ImportPath string   `json:"ImportPath"`
	Dir        string   `json:"Dir"`
	GoFiles    []string `json:"GoFiles"`
	EmbedFiles []string `json:"EmbedFiles"`
	Module     *module  `json:"Module"`
}

// module is one as go list prints it. Dir is where its source is.
type module struct {
	Path    string `json:"Path"`
	Version string `json:"Version"`
	Dir     string `json:"Dir"`
}

// writeModules writes smaller copies of modules into a folder, of the packages given, and returns a file for `go build -modfile` that
// uses them.
func writeModules(folder *os.Root, packages []pkg) (string, error) {
	modules := map[string]string{}
	for _, p := range packages {
		if p.Module == nil || !copied[p.Module.Path] {
			continue
		}
		modules[p.Module.Path] = p.Module.Dir
		if err := p.copy(folder); err != nil {
			return "", err
		}
	}
	return writeModfile(folder, modules)
}

// list returns the packages that a main package is built of.
func list(ctx context.Context, main string, env []string) ([]pkg, error) {
	command := exec.CommandContext(ctx, "go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,EmbedFiles,Module", main) //nolint:gosec // a constant
	command.Env, command.Stderr = env, os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", main, err)
	}
	var packages []pkg
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

// copy writes the package's files into a folder, edited.
func (p pkg) copy(folder *os.Root) error {
	if err := folder.MkdirAll(p.ImportPath, 0o750); err != nil {
		return err
	}
	for _, name := range append(p.GoFiles, p.EmbedFiles...) {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return err
		}
		if filepath.Ext(name) == ".go" {
			if text, err = slimmed(string(text), p.ImportPath+"/"+name); err != nil {
				return err
			}
		}
		if err := folder.WriteFile(filepath.Join(p.ImportPath, name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// writeModfile writes the go.mod and go.sum of this module into a folder, with modules replaced by those in the folder.
func writeModfile(folder *os.Root, modules map[string]string) (string, error) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return "", err
	}
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		return "", err
	}
	for path, dir := range modules {
		mod = fmt.Appendf(mod, "\nreplace %s => %s\n", path, filepath.Join(folder.Name(), path))
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil {
			return "", err
		}
		if err := folder.WriteFile(filepath.Join(path, "go.mod"), text, 0o600); err != nil {
			return "", err
		}
	}
	if err := folder.WriteFile("go.sum", sum, 0o600); err != nil {
		return "", err
	}
	return filepath.Join(folder.Name(), "go.mod"), folder.WriteFile("go.mod", mod, 0o600)
}
