package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// pkg is a package as go list prints it.
type pkg struct {
	ImportPath string   `json:"ImportPath"`
	Dir        string   `json:"Dir"`
	GoFiles    []string `json:"GoFiles"`
	SFiles     []string `json:"SFiles"`
	HFiles     []string `json:"HFiles"`
	EmbedFiles []string `json:"EmbedFiles"`
	Module     *module  `json:"Module"`
}

// module is one as go list prints it. Dir is where its source is.
type module struct {
	Path    string `json:"Path"`
	Version string `json:"Version"`
	Dir     string `json:"Dir"`
	Main    bool   `json:"Main"`
}

// source is what a program is built of: a file for `go build -modfile`, which replaces modules by copies, and one for -overlay, which
// replaces the files of Go and of this module.
type source struct{ modfile, overlay string }

// flags returns the arguments of `go build` for a main package. Inlined functions, with their tables, would be a sixth of the
// compressed program. In Go's runtime they are a hundredth, for answers that are a tenth faster.
func (s source) flags(main string) []string {
	flags := []string{"-modfile=" + s.modfile, "-overlay=" + s.overlay, "-mod=mod", "-trimpath", "-ldflags=-s -w", "-gcflags=all=-l"}
	for _, inlined := range []string{"runtime", "internal/runtime/...", "internal/abi"} {
		flags = append(flags, "-gcflags="+inlined+"=")
	}
	return append(flags, main)
}

// writeSource writes edited copies of packages into a folder.
func writeSource(folder *os.Root, packages []pkg) (source, error) {
	modules, replaced := map[string]string{}, map[string]string{}
	for _, p := range packages {
		if p.ImportPath == "unsafe" {
			continue
		}
		if err := p.copy(folder); err != nil {
			return source{}, err
		}
		if p.Module != nil && !p.Module.Main {
			modules[p.Module.Path] = p.Module.Dir
			continue
		}
		for _, name := range p.GoFiles {
			replaced[filepath.Join(p.Dir, name)] = filepath.Join(folder.Name(), p.ImportPath, name)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return source{}, err
	}
	if err := folder.WriteFile("overlay.json", overlay, 0o600); err != nil {
		return source{}, err
	}
	modfile, err := writeModfile(folder, modules)
	return source{modfile: modfile, overlay: filepath.Join(folder.Name(), "overlay.json")}, err
}

// list returns the packages that a main package is built of.
func list(ctx context.Context, main string, env []string) ([]pkg, error) {
	command := exec.CommandContext(ctx, "go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,SFiles,HFiles,EmbedFiles,Module", main) //nolint:gosec // a constant
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
	for _, name := range slices.Concat(p.GoFiles, p.SFiles, p.HFiles, p.EmbedFiles) {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return err
		}
		if filepath.Ext(name) == ".go" {
			if text, err = p.slimmed(string(text), name); err != nil {
				return err
			}
		}
		if err := folder.MkdirAll(filepath.Join(p.ImportPath, filepath.Dir(name)), 0o750); err != nil {
			return err
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
		if errors.Is(err, fs.ErrNotExist) {
			text, err = fmt.Appendf(nil, "module %s\n", path), nil
		}
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
