// Engine builds the engines of the page into a folder: the verbs of podverdict that run in a browser, for js/wasm. It builds them of
// smaller copies of Kubernetes' modules, without what the page has no use for.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// command is the main package that engines are built of.
const command = "./cmd/podverdict"

// engines are the files that are built, with the build tags of each. The one that has no Rego is ready sooner.
var engines = []struct{ name, tags string }{
	{"engine", "page"},
	{"constraints", "constraints"},
}

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("usage: go run ./playground/engine FOLDER")
	}
	for _, engine := range engines {
		if err := build(ctx, filepath.Join(args[0], engine.name), engine.tags); err != nil {
			return err
		}
	}
	return nil
}

// build builds one engine, and writes the licences of its modules beside it.
func build(ctx context.Context, name, tags string) error {
	temporary, err := os.MkdirTemp("", "podverdict-engine-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	folder, err := os.OpenRoot(temporary)
	if err != nil {
		return err
	}
	defer folder.Close()
	env := append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=-tags="+tags)
	packages, err := list(ctx, command, env)
	if err != nil {
		return err
	}
	modfile, err := writeModules(folder, packages)
	if err != nil {
		return err
	}
	compile := exec.CommandContext(ctx, "go", "build", "-modfile="+modfile, "-mod=mod", "-trimpath", "-ldflags=-s -w", //nolint:gosec // a tool for us
		"-o", name+".wasm", command)
	compile.Env, compile.Stderr = env, os.Stderr
	if err := compile.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	text, err := licenses(ctx, packages)
	if err != nil {
		return err
	}
	return os.WriteFile(name+"-licenses.txt", []byte(text), 0o644) //nolint:gosec // for everybody to read
}
