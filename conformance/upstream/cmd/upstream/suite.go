package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/version"

	suiteof "github.com/podverdict/podverdict/conformance/upstream/integration"
	"github.com/podverdict/podverdict/conformance/upstream/internal/staging"
)

// folder is the folder of upstream's tests in its module.
const folder = "test/integration/job"

// suite locates upstream's tests.
type suite struct {
	version string // version of k8s.io/kubernetes
	dir     string // its folder in the module cache
	module  string // folder of the module that requires it
	linked  string // version that the module requires
}

// findSuite queries the go command about the module of the working directory, and about the release, which may differ
// from the required one.
func findSuite(ctx context.Context, release string) (suite, error) {
	file, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return suite{}, err
	}
	s := suite{module: filepath.Dir(strings.TrimSpace(string(file)))}
	linked, err := s.ask(ctx, "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	if err != nil {
		return s, err
	}
	s.linked = strings.TrimSpace(linked)
	s.version = cmp.Or(release, s.linked)
	described, err := s.ask(ctx, "mod", "download", "-json", "k8s.io/kubernetes@"+s.version)
	if err != nil {
		return s, err
	}
	var downloaded struct {
		Dir string `json:"Dir"`
	}
	err = json.Unmarshal([]byte(described), &downloaded)
	s.dir = downloaded.Dir
	return s, err
}

// ask runs the go command in the module.
func (s suite) ask(ctx context.Context, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", arguments...) //nolint:gosec // the arguments are ours
	command.Dir = s.module
	var stderr bytes.Buffer
	command.Stderr = &stderr
	stdout, err := command.Output()
	if err != nil {
		err = fmt.Errorf("go %s: %w\n%s", arguments[0], err, stderr.String())
	}
	return string(stdout), err
}

// arguments returns the go test arguments common to all runs.
func (s suite) arguments(ctx context.Context, work string, o integrationOptions) ([]string, error) {
	modfile, err := s.modfile(ctx, work)
	arguments := []string{
		"-vet=off", "-timeout", fmt.Sprintf("%dh", o.count), "-count", strconv.Itoa(o.count), "-mod=mod", "-modfile", modfile,
	}
	if o.run != "" {
		arguments = append(arguments, "-run", o.run)
	}
	return arguments, err
}

// modfile copies go.mod to the work folder, because the tests import modules that our code does not need, and requires
// the release in the copy.
func (s suite) modfile(ctx context.Context, work string) (string, error) {
	path := filepath.Join(work, "go.mod")
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(s.module, name))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(work, name), text, 0o600); err != nil { //nolint:gosec // a folder of our own
			return "", err
		}
	}
	if s.version == s.linked {
		return path, nil
	}
	release, err := staging.Read(ctx, filepath.Join(s.dir, "go.mod"))
	if err != nil {
		return "", err
	}
	edit := []string{"mod", "edit", "-require=k8s.io/kubernetes@" + s.version}
	modules, staged := release.Modules(s.version)
	for _, module := range modules {
		edit = append(edit, fmt.Sprintf("-replace=%s=%s@%s", module, module, staged))
	}
	_, err = s.ask(ctx, append(edit, path)...)
	return path, err
}

// overlay writes the edited tests and our own edited files, and the overlay file that places them in our package.
func (s suite) overlay(work string, tests map[string]string) (string, error) {
	replace, err := s.ours()
	if err != nil {
		return "", err
	}
	for name, text := range tests {
		replace[filepath.Join(s.module, "integration", name)] = text
	}
	for i, path := range slices.Sorted(maps.Keys(replace)) {
		written := filepath.Join(work, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(written, []byte(replace[path]), 0o600); err != nil {
			return "", err
		}
		replace[path] = written
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(work, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}

// ours returns our own files by path, edited for the release if it is older.
func (s suite) ours() (map[string]string, error) {
	files := map[string]string{}
	if version.MustParseGeneric(s.version).AtLeast(v137) {
		return files, nil
	}
	for name, edits := range suiteof.OursBefore137 {
		path := filepath.Join(s.module, "..", "..", name)
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if files[path], err = suiteof.Apply(string(text), edits...); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return files, nil
}

// edited returns upstream's test files by name, with the edits applied.
func (s suite) edited() (map[string]string, error) {
	paths, err := filepath.Glob(filepath.Join(s.dir, folder, "*_test.go"))
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		edits := []suiteof.Edit{suiteof.Package}
		if filepath.Base(path) == "job_test.go" {
			edits = append(edits, suiteof.Edits...)
		}
		if files[filepath.Base(path)], err = suiteof.Apply(string(text), edits...); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there are no tests in %s/%s", s.dir, folder)
	}
	return files, nil
}

// etcd returns the folder with etcd: the folder in envtest's variable, or the one built by `make control-plane`.
func (s suite) etcd() string {
	if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" {
		return assets
	}
	return filepath.Join(s.module, "..", "..", ".cache", "control-plane", s.linked)
}

var errFailed = errors.New("tests failed")

// goTest runs go test with the arguments through gotestsum.
func (s suite) goTest(ctx context.Context, arguments []string, stdout, stderr io.Writer) error {
	arguments = append([]string{"run", "gotest.tools/gotestsum@v1.13.0", "--format=testname", "--hide-summary=skipped,output", "--"}, arguments...)
	command := exec.CommandContext(ctx, "go", arguments...)   //nolint:gosec // the arguments are ours
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that etcd ends, too
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
	command.Dir, command.WaitDelay = s.module, 30*time.Second
	command.Env = append(os.Environ(), "PATH="+s.etcd()+string(filepath.ListSeparator)+os.Getenv("PATH"))
	command.Stdout, command.Stderr = stdout, stderr
	err := command.Run()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) && ctx.Err() == nil {
		return errFailed
	}
	return err
}
