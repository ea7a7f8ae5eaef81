package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// platform is an operating system and an architecture, as Go names them.
type platform struct{ os, arch string }

var allPlatforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

func parsePlatform(name string) (platform, error) {
	if !slices.Contains(allPlatforms, name) {
		return platform{}, fmt.Errorf("-platforms: %q is not one of %s", name, strings.Join(allPlatforms, ", "))
	}
	system, arch, _ := strings.Cut(name, "/")
	return platform{system, arch}, nil
}

// program returns the file name of a program.
func (p platform) program(name string) string {
	if p.os == "windows" {
		return name + ".exe"
	}
	return name
}

func (p platform) String() string { return p.os + "_" + p.arch }

// Programs that a release has.
const (
	cli        = "podverdict"
	controller = "podverdict-controller"
)

// programs returns the programs for a platform: the controller runs in a cluster, so Linux is enough.
func (p platform) programs() []string {
	if p.os == "linux" {
		return []string{cli, controller}
	}
	return []string{cli}
}

// release is what is under way.
type release struct {
	options

	work    string // a folder that goes when the release is done
	host    string // podverdict, for this machine
	version string // without the v
	time    time.Time
	digest  string   // of the controller's images, once they are written
	pushed  []string // what a registry has got, by digest
}

// newRelease builds podverdict for this machine and asks it for the version and the time of the commit: all files then have what
// the Go linker has recorded.
func newRelease(ctx context.Context, o options, work string) (*release, error) {
	if err := os.MkdirAll(o.out, 0o750); err != nil {
		return nil, err
	}
	found, err := os.ReadDir(o.out)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		return nil, fmt.Errorf("-o: %s is not empty", o.out)
	}
	r := &release{options: o, work: work}
	here := platform{runtime.GOOS, runtime.GOARCH}
	if err := r.compile(ctx, here, cli); err != nil {
		return nil, err
	}
	r.host = r.binary(here, cli)
	if err := r.readVersion(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// readVersion takes version and time from the program.
func (r *release) readVersion(ctx context.Context) error {
	text, err := r.ask(ctx, "version", "-o", "json")
	if err != nil {
		return err
	}
	var said struct {
		Version string `json:"version"`
		Date    string `json:"date"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return err
	}
	if strings.Contains(said.Version, "+dirty") && !r.dirty {
		return errors.New("the work tree has changes: commit them, for a release is built from a commit")
	}
	r.version = strings.TrimPrefix(said.Version, "v")
	r.time, err = time.Parse(time.RFC3339, said.Date)
	if err != nil {
		return fmt.Errorf("the program was built without the time of a commit: %w", err)
	}
	return nil
}

// ask runs podverdict on this machine.
func (r *release) ask(ctx context.Context, arguments ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, r.host, arguments...) //nolint:gosec // the program was built before
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("podverdict %s: %w: %s", strings.Join(arguments, " "), err, stderr.String())
	}
	return out, nil
}

// binary returns where a program is built.
func (r *release) binary(p platform, name string) string {
	return filepath.Join(r.work, "build", p.String(), p.program(name))
}

// build compiles all programs that are not there yet.
func (r *release) build(ctx context.Context) error {
	for _, p := range r.platforms {
		for _, name := range p.programs() {
			if _, err := os.Stat(r.binary(p, name)); err == nil {
				continue
			}
			if err := r.compile(ctx, p, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) compile(ctx context.Context, p platform, name string) error {
	target, err := filepath.Abs(r.binary(p, name))
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", target, "./cmd/"+name) //nolint:gosec // our own names
	command.Dir = r.source
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch, "GOFLAGS=")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s for %s: %w\n%s", name, p, err, out)
	}
	return nil
}

// file returns the path of a file of the release.
func (r *release) file(format string, values ...any) string {
	return filepath.Join(r.out, fmt.Sprintf(format, values...))
}
