//go:build cluster

package controlplane_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/podverdict/podverdict/internal/kube/kubeversion"
)

func TestStartFailsLoudly(t *testing.T) {
	for _, c := range []struct {
		name   string
		end    string
		folder func(t *testing.T) (working, assets string)
		want   []string
	}{
		{
			name: "not built", end: "fails", folder: repository,
			want: []string{"the control plane is not built, run make control-plane: stat ", "/.cache/control-plane/" + kubeversion.Pinned + "/etcd: no such file"},
		},
		{
			name: "outside", end: "fails", folder: outside,
			want: []string{"no folder above ", " has conformance/upstream/go.mod"},
		},
		{
			name: "empty assets", end: "fails", folder: emptyAssets,
			want: []string{"KUBEBUILDER_ASSETS=", " has no control plane; unset it and run make control-plane", "etcd: no such file"},
		},
		{
			name: "broken etcd", end: "fails", folder: brokenAssets,
			want: []string{"the control plane that make control-plane builds: start etcd: ", "its log ends with:", "no space left on device"},
		},
		{
			name: "unknown component", end: "unknown component", folder: here,
			want: []string{`unknown component "kube-proxy", there are ["etcd" "kube-apiserver" "kube-controller-manager" "kube-scheduler" "kwok"]`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			command := exec.Command(os.Args[0], "-test.run=^TestEnds$")
			working, assets := c.folder(t)
			command.Dir = working
			command.Env = append(os.Environ(), "KUBEBUILDER_ASSETS="+assets, endsBy+"="+c.end)
			out, err := command.CombinedOutput()
			if command.ProcessState.ExitCode() != 1 {
				t.Errorf("%v, want exit status 1", err)
			}
			for _, want := range c.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("it does not say %q:\n%s", want, out)
				}
			}
		})
	}
}

func here(*testing.T) (working, assets string) { return "", os.Getenv("KUBEBUILDER_ASSETS") }

func outside(t *testing.T) (working, assets string) {
	t.Helper()
	return t.TempDir(), ""
}

func repository(t *testing.T) (working, assets string) {
	t.Helper()
	root := t.TempDir()
	write(t, filepath.Join(root, "conformance", "upstream", "go.mod"), "module example.com/upstream\n")
	working = filepath.Join(root, "deep", "below")
	if err := os.MkdirAll(working, 0o755); err != nil {
		t.Fatal(err)
	}
	return working, ""
}

func emptyAssets(t *testing.T) (working, assets string) {
	t.Helper()
	return "", t.TempDir()
}

func brokenAssets(t *testing.T) (working, assets string) {
	t.Helper()
	assets = t.TempDir()
	write(t, filepath.Join(assets, "etcd"), "#!/bin/sh\necho no space left on device >&2\nexit 1\n")
	write(t, filepath.Join(assets, "kube-apiserver"), "#!/bin/sh\necho Kubernetes v1.37.2\n")
	return "", assets
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}
