package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A binary is a command of a module that another module requires; the tool directives of
// that one's go.mod keep its imports there.
type binary struct {
	name, path string
	module     string // the folder of the module that requires it, from that of the module of this command
}

// kwok has a module of its own. Kubernetes is built with the modules that its authors
// have tested, and the many that only kwok needs must not raise them.
const kwok = "cmd/controlplane/kwok"

var binaries = []binary{
	{"etcd", "go.etcd.io/etcd/server/v3", "."},
	{"kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver", "."},
	{"kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager", "."},
	{"kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler", "."},
	{"kubectl", "k8s.io/kubernetes/cmd/kubectl", "."},
	{"kwok", "sigs.k8s.io/kwok/cmd/kwok", kwok},
}

// A toolkit is all that decides what a build makes.
type toolkit struct {
	folder  string // of the module whose requirements count
	ldflags string
	inputs  string // the toolchain and the modules
}

// newToolkit reads the module of the folder. The version is that of k8s.io/kubernetes.
func newToolkit(ctx context.Context, folder, version string) (toolkit, error) {
	ldflags, err := linkerFlags(version)
	if err != nil {
		return toolkit{}, err
	}
	inputs, err := readInputs(ctx, folder)
	if err != nil {
		return toolkit{}, err
	}
	return toolkit{folder: folder, ldflags: ldflags, inputs: inputs}, nil
}

// findModule returns the folder of the module of the working directory, and the version of
// k8s.io/kubernetes that it requires, with the v.
func findModule(ctx context.Context) (folder, version string, err error) {
	file, err := output(ctx, ".", "env", "GOMOD")
	if err != nil {
		return "", "", err
	}
	folder = filepath.Dir(strings.TrimSpace(file))
	version, err = output(ctx, folder, "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	return folder, strings.TrimSpace(version), err
}

// readInputs returns what go env says of the toolchain, and what the modules are.
func readInputs(ctx context.Context, folder string) (string, error) {
	toolchain, err := output(ctx, folder, "env", "GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "CGO_ENABLED", "GOFLAGS", "GOEXPERIMENT")
	if err != nil {
		return "", err
	}
	requirements, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		return "", err
	}
	sums, err := os.ReadFile(filepath.Join(folder, "go.sum"))
	return strings.Join([]string{toolchain, string(requirements), string(sums)}, "\x00"), err
}

// linkerFlags leave out what only debuggers read, and set the version as upstream's
// hack/lib/version.sh does: without it, the API server says that it is v0.0.0. The
// modules do not say of which commit they are.
func linkerFlags(version string) (string, error) {
	major, minor, ok := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, ok2 := strings.Cut(minor, ".")
	if !ok || !ok2 {
		return "", fmt.Errorf("k8s.io/kubernetes has the version %q, not one like v1.37.2", version)
	}
	flags := []string{"-s", "-w"}
	for _, at := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		flags = append(flags,
			"-X", at+".gitVersion="+version, "-X", at+".gitMajor="+major, "-X", at+".gitMinor="+minor,
			"-X", at+".gitCommit=", "-X", at+".gitTreeState=archive")
	}
	return strings.Join(flags, " "), nil
}

// stamp identifies what a build of the binary makes.
func (k toolkit) stamp(b binary) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{b.path, k.ldflags, k.inputs}, "\x00")))
	return hex.EncodeToString(sum[:])
}

// provide builds the binary into the folder, whose path is absolute, unless it is there, and
// says which. The stamp is written last, so that it never speaks of another binary.
func (k toolkit) provide(ctx context.Context, b binary, folder string) (outcome string, err error) {
	target, stamp := filepath.Join(folder, b.name), filepath.Join(folder, b.name+".stamp")
	if current(target, stamp, k.stamp(b)) {
		return "current", nil
	}
	begin := time.Now()
	work, err := os.MkdirTemp(folder, "build-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	built, stamped := filepath.Join(work, b.name), filepath.Join(work, "stamp")
	if _, err := output(ctx, k.folder, "build", "-ldflags", k.ldflags, "-o", built, b.path); err != nil {
		return "", err
	}
	if err := os.WriteFile(stamped, []byte(k.stamp(b)), 0o600); err != nil {
		return "", err
	}
	if err := errors.Join(os.Rename(built, target), os.Rename(stamped, stamp)); err != nil {
		return "", err
	}
	return fmt.Sprintf("built in %v", time.Since(begin).Round(100*time.Millisecond)), nil
}

func current(target, stamp, want string) bool {
	got, err := os.ReadFile(stamp)
	if err != nil || string(got) != want {
		return false
	}
	info, err := os.Stat(target)
	return err == nil && info.Mode().IsRegular()
}

// output runs the go command in the folder. It says nothing unless it fails.
func output(ctx context.Context, folder string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", args...)                            //nolint:gosec // the arguments are ours
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) } // it removes its own work
	command.Dir, command.WaitDelay = folder, 10*time.Second
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], errors.Join(context.Cause(ctx), err), stderr.String())
	}
	return stdout.String(), nil
}
