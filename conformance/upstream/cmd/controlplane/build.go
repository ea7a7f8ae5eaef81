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

// A binary is a command of a module that another module requires; the tool directives in the latter's go.mod keep its
// imports there.
type binary struct {
	name, path string
	module     string // the folder of the module that requires it, relative to this command's module
	released   bool   // whether tests also run it at other releases of Kubernetes
}

// kwok has its own module. Kubernetes is built with the modules that its authors have tested, and the many modules that
// only kwok needs must not raise their versions.
const kwok = "cmd/controlplane/kwok"

var binaries = []binary{
	{name: "etcd", path: "go.etcd.io/etcd/server/v3", module: "."},
	{name: "kube-apiserver", path: "k8s.io/kubernetes/cmd/kube-apiserver", module: ".", released: true},
	{name: "kube-controller-manager", path: "k8s.io/kubernetes/cmd/kube-controller-manager", module: ".", released: true},
	{name: "kube-scheduler", path: "k8s.io/kubernetes/cmd/kube-scheduler", module: "."},
	{name: "kubectl", path: "k8s.io/kubernetes/cmd/kubectl", module: "."},
	{name: "kwok", path: "sigs.k8s.io/kwok/cmd/kwok", module: kwok},
}

// A toolkit is everything that determines the result of a build.
type toolkit struct {
	folder  string // folder of the module whose requirements apply
	modfile string // file that replaces its go.mod, for another release
	ldflags string
	inputs  string // the toolchain and the modules
}

// newToolkit reads the module of the folder. version is the version of k8s.io/kubernetes.
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

// findModule returns the folder of the module of the working directory, and the version of k8s.io/kubernetes that it
// requires, with the v.
func findModule(ctx context.Context) (folder, version string, err error) {
	file, err := output(ctx, ".", "env", "GOMOD")
	if err != nil {
		return "", "", err
	}
	folder = filepath.Dir(strings.TrimSpace(file))
	version, err = output(ctx, folder, "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	return folder, strings.TrimSpace(version), err
}

// newReleaseToolkit writes a go.mod to the folder that makes the module of the working directory require another release
// of Kubernetes.
func newReleaseToolkit(ctx context.Context, module, folder, version string) (toolkit, error) {
	ldflags, err := linkerFlags(version)
	if err != nil {
		return toolkit{}, err
	}
	toolchain, err := toolchain(ctx, module)
	if err != nil {
		return toolkit{}, err
	}
	path, text, err := writeModule(ctx, folder, version)
	return toolkit{folder: module, modfile: path, ldflags: ldflags, inputs: toolchain + "\x00" + text}, err
}

// toolchain returns the settings of go env that affect builds.
func toolchain(ctx context.Context, folder string) (string, error) {
	return output(ctx, folder, "env", "GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "CGO_ENABLED", "GOFLAGS", "GOEXPERIMENT")
}

// readInputs returns the toolchain and the contents of the module files.
func readInputs(ctx context.Context, folder string) (string, error) {
	toolchain, err := toolchain(ctx, folder)
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

// linkerFlags omit data that only debuggers read, and set the version like upstream's hack/lib/version.sh: without it,
// the API server reports v0.0.0. The modules do not contain their commit.
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

// stamp identifies the result of a build of the binary.
func (k toolkit) stamp(b binary) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{b.path, k.ldflags, k.inputs}, "\x00")))
	return hex.EncodeToString(sum[:])
}

// provide builds the binary into the folder, whose path is absolute, unless it is current, and reports which. The stamp
// is written last, so that it never describes another binary.
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
	arguments := []string{"build", "-ldflags", k.ldflags, "-o", built}
	if k.modfile != "" {
		arguments = append(arguments, "-mod=mod", "-modfile", k.modfile)
	}
	if _, err := output(ctx, k.folder, append(arguments, b.path)...); err != nil {
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

// output runs the go command in the folder. Its output appears in the error if it fails.
func output(ctx context.Context, folder string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", args...)                            //nolint:gosec // the arguments are ours
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) } // it removes its temporary files
	command.Dir, command.WaitDelay = folder, 10*time.Second
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], errors.Join(context.Cause(ctx), err), stderr.String())
	}
	return stdout.String(), nil
}
