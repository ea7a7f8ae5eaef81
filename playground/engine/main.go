// Engine builds the engines of the page into a folder: the verbs of podverdict that run in a browser, for js/wasm. It builds them of
// smaller copies of all packages, without what the page has no use for. A panic in a page names functions, but no lines. Beside them
// it writes the bundle of the Rego rules, which is the same for all input.
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

// engines are the files that are built, with the build tags of each. The one that has no Rego is ready sooner. A whole one has the API
// server's own CEL environments, which need the modules as they are.
var engines = []struct {
	name, tags string
	whole      bool
}{
	{name: "engine", tags: "page"},
	{name: "constraints", tags: "constraints"},
	{name: "generate", tags: "generate", whole: true},
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
		if err := build(ctx, filepath.Join(args[0], engine.name), engine.tags, engine.whole); err != nil {
			return err
		}
	}
	bundle := exec.CommandContext(ctx, "go", "run", "-trimpath", "-ldflags=-s -w", command, //nolint:gosec // a tool for us
		"generate", "bundle", "-o", filepath.Join(args[0], "bundle.tar.gz"))
	bundle.Env, bundle.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr // as make build
	return bundle.Run()
}

// build builds one engine, and writes the licences of its modules beside it.
func build(ctx context.Context, name, tags string, whole bool) error {
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
	flags := []string{"-trimpath", "-ldflags=-s -w", command}
	if !whole {
		source, err := writeSource(folder, packages)
		if err != nil {
			return err
		}
		flags = source.flags(command)
	}
	compile := exec.CommandContext(ctx, "go", append([]string{"build", "-o", name + ".wasm"}, flags...)...) //nolint:gosec // for us
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
