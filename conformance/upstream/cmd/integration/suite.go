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
	"strconv"
	"strings"
	"syscall"
	"time"

	suiteof "github.com/podverdict/podverdict/conformance/upstream/integration"
)

// folder is upstream's, in its module.
const folder = "test/integration/job"

// suite is where upstream's tests are.
type suite struct {
	Version string `json:"Version"` // of k8s.io/kubernetes
	Dir     string `json:"Dir"`
	module  string // the folder of the module that requires it
}

// findSuite asks the go command about the module of the working directory.
func findSuite(ctx context.Context) (suite, error) {
	var s suite
	file, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return s, err
	}
	s.module = filepath.Dir(strings.TrimSpace(string(file)))
	list := exec.CommandContext(ctx, "go", "list", "-m", "-json", "k8s.io/kubernetes")
	list.Dir = s.module
	described, err := list.Output()
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(described, &s); err != nil {
		return s, err
	}
	if s.Dir == "" {
		return s, errors.New("k8s.io/kubernetes is not downloaded: go mod download k8s.io/kubernetes")
	}
	return s, nil
}

// arguments are those of the go command. Without -native they add the edited tests, which are in the work folder, to our package.
func (s suite) arguments(work string, o options) ([]string, error) {
	arguments := []string{"test", "-json", "-vet=off", "-timeout", fmt.Sprintf("%dh", o.count), "-count", strconv.Itoa(o.count)}
	if o.run != "" {
		arguments = append(arguments, "-run", o.run)
	}
	if o.native {
		return append(arguments, "k8s.io/kubernetes/"+folder), nil
	}
	overlay, err := s.overlay(work)
	if err != nil {
		return nil, err
	}
	// The tests import modules that nothing of ours needs: a copy of go.mod gets them.
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(s.module, name))
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(work, name), text, 0o600); err != nil { //nolint:gosec // a folder of our own
			return nil, err
		}
	}
	var names []string
	for _, excluded := range notApplicable {
		names = append(names, excluded.test)
	}
	return append(arguments, "-mod=mod", "-modfile", filepath.Join(work, "go.mod"), "-overlay", overlay,
		"-skip", strings.Join(names, "|"), "./integration"), nil
}

// overlay writes the edited tests, and the file by which the go command finds them.
func (s suite) overlay(work string) (string, error) {
	files, err := s.edited()
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, text := range files {
		written := filepath.Join(work, name)
		if err := os.WriteFile(written, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(s.module, "integration", name)] = written
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(work, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}

// edited are upstream's test files by their names, with the edits made.
func (s suite) edited() (map[string]string, error) {
	paths, err := filepath.Glob(filepath.Join(s.Dir, folder, "*_test.go"))
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
		return nil, fmt.Errorf("there are no tests in %s/%s", s.Dir, folder)
	}
	return files, nil
}

// etcd is the folder that has it: envtest's variable names it, or `make control-plane` has built it.
func (s suite) etcd() string {
	if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" {
		return assets
	}
	return filepath.Join(s.module, "..", "..", ".cache", "control-plane", s.Version)
}

// goTest runs the go command, and tells the events of its tests. That tests fail is no error.
func (s suite) goTest(ctx context.Context, arguments []string, tell func(event)) error {
	command := exec.CommandContext(ctx, "go", arguments...)   //nolint:gosec // the arguments are ours
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that etcd ends, too
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
	command.Dir, command.WaitDelay = s.module, 30*time.Second
	command.Env = append(os.Environ(), "PATH="+s.etcd()+string(filepath.ListSeparator)+os.Getenv("PATH"))
	var stderr bytes.Buffer
	command.Stderr = &stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	decoder, told := json.NewDecoder(stdout), false
	for {
		var e event
		err := decoder.Decode(&e)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errors.Join(err, command.Wait())
		}
		told = told || e.Test != ""
		tell(e)
	}
	err = command.Wait()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) && told && ctx.Err() == nil {
		return nil
	}
	if err != nil {
		err = fmt.Errorf("go test: %w\n%s", errors.Join(context.Cause(ctx), err), stderr.String())
	}
	return err
}
