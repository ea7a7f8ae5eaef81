package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommandLine(t *testing.T) {
	for _, args := range [][]string{{}, {"-o"}, {"-o", "folder", "more"}, {"-x"}} {
		var stdout, stderr strings.Builder
		if code := controlplane(t.Context(), args, &stdout, &stderr); code != 2 || stderr.Len() == 0 {
			t.Errorf("%q exits with %d and says %q", args, code, &stderr)
		}
	}
}

func TestGivenAssets(t *testing.T) {
	folder := t.TempDir()
	all := "nothing is built, as KUBEBUILDER_ASSETS=" + folder + " has all binaries\n"
	for _, b := range binaries {
		if got := given(t, folder); got.code != 1 || !strings.Contains(got.stderr, filepath.Join(folder, b.name)) {
			t.Errorf("without %s: %+v", b.name, got)
		}
		write(t, filepath.Join(folder, b.name), "")
	}
	if got := given(t, folder); got != (result{stdout: all}) {
		t.Errorf("with all: %+v, want %q", got, all)
	}
	if err := os.Chmod(filepath.Join(folder, "etcd"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := given(t, folder); got.code != 1 || !strings.Contains(got.stderr, "etcd is not executable") {
		t.Errorf("with one not executable: %+v", got)
	}
	if got := given(t, "relative"); got.code != 1 || !strings.Contains(got.stderr, "KUBEBUILDER_ASSETS=relative: must be absolute") {
		t.Errorf("relative: %+v", got)
	}
}

type result struct {
	code           int
	stdout, stderr string
}

func given(t *testing.T, assets string) result {
	t.Helper()
	t.Setenv("KUBEBUILDER_ASSETS", assets)
	var stdout, stderr strings.Builder
	code := controlplane(t.Context(), []string{"-o", filepath.Join(t.TempDir(), "unused")}, &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

func TestToolkitIsOfTheModule(t *testing.T) {
	root, kubernetes, err := findModule(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tools := map[string]string{}
	for folder, module := range map[string]string{".": "k8s.io/kubernetes", kwok: "sigs.k8s.io/kwok"} {
		content, err := os.ReadFile(filepath.Join("..", "..", folder, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(content), "\t"+module+" ")
		version := strings.Fields(after)[0]
		if folder == "." && version != kubernetes {
			t.Errorf("version %s is not the one of go.mod, %s", kubernetes, version)
		}
		kit, err := newToolkit(t.Context(), filepath.Join(root, folder), kubernetes)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(kit.inputs, string(content)) || !strings.Contains(kit.inputs, module+" "+version+" h1:") {
			t.Errorf("the stamp does not depend on go.mod or go.sum of %s", folder)
		}
		_, tools[folder], _ = strings.Cut(string(content), "\ntool ")
	}
	for _, b := range binaries {
		if !strings.Contains(tools[b.module], b.path+"\n") {
			t.Errorf("%s is no tool of go.mod, so that go mod tidy drops what it imports", b.path)
		}
	}
}

// TestReleaseToolkit tests that another release is built with a go.mod that requires nothing else, with upstream's
// GODEBUG settings.
func TestReleaseToolkit(t *testing.T) {
	root, kubernetes, err := findModule(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	kit, err := newReleaseToolkit(t.Context(), root, folder, kubernetes) // which is downloaded
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(kit.modfile)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"module github.com/podverdict/podverdict/conformance/upstream\n", "\ngo 1.", "\ngodebug default=go1.",
		"\nrequire k8s.io/kubernetes " + kubernetes + "\n", "\nreplace k8s.io/api => k8s.io/api v0.37.2\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("go.mod lacks %q:\n%s", want, text)
		}
	}
	if strings.Count(string(text), "require ") != 1 || !strings.Contains(kit.inputs, string(text)) {
		t.Errorf("the stamp depends on\n%s\ngo.mod is\n%s", kit.inputs, text)
	}
	if _, err := newReleaseToolkit(t.Context(), root, folder, "latest"); err == nil {
		t.Error("latest is a release")
	}
}

func TestLinkerFlags(t *testing.T) {
	got, err := linkerFlags("v1.37.2")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"component-base/version.gitVersion=v1.37.2", "client-go/pkg/version.gitVersion=v1.37.2", "version.gitMajor=1 ", "version.gitMinor=37 "} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	if flags, err := linkerFlags("latest"); err == nil || !strings.Contains(err.Error(), `"latest"`) {
		t.Errorf("latest: %q, %v", flags, err)
	}
}

// TestBuildsWhatIsNotCurrent tests that a small command is built, kept if current, rebuilt for each possible reason, and
// kept if a build fails.
func TestBuildsWhatIsNotCurrent(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "go.mod", "module example.com/hello\n\ngo 1.26\n")
	write(t, "main.go", "package main\n\nvar text = `not set`\n\nfunc main() { println(text) }\n")
	folder, hello := t.TempDir(), binary{name: "hello", path: "example.com/hello"}
	kit := toolkit{folder: ".", ldflags: "-X main.text=first", inputs: "modules"}
	provided := func(kit toolkit, wantOutcome, wantText string) {
		t.Helper()
		outcome, err := kit.provide(t.Context(), hello, folder)
		if err != nil || !strings.HasPrefix(outcome, wantOutcome) {
			t.Fatalf("%q, %v, want %q", outcome, err, wantOutcome)
		}
		if out, err := exec.Command(filepath.Join(folder, "hello")).CombinedOutput(); err != nil || string(out) != wantText+"\n" {
			t.Fatalf("it prints %q, %v, want %q", out, err, wantText)
		}
	}
	provided(kit, "built in ", "first")
	provided(kit, "current", "first")
	kit.ldflags = "-X main.text=second"
	provided(kit, "built in ", "second")
	kit.inputs = "other modules"
	provided(kit, "built in ", "second")
	if err := os.Remove(filepath.Join(folder, "hello")); err != nil {
		t.Fatal(err)
	}
	provided(kit, "built in ", "second")

	kit.inputs = "others again"
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if outcome, err := kit.provide(stopped, hello, folder); err == nil {
		t.Errorf("interrupted: %q", outcome)
	}
	write(t, "main.go", "package main\n\nfunc main() { undefined() }\n")
	if outcome, err := kit.provide(t.Context(), hello, folder); err == nil || !strings.Contains(err.Error(), "undefined: undefined") {
		t.Errorf("broken: %q, %v", outcome, err)
	}
	if diff := cmp.Diff([]string{"hello", "hello.stamp"}, names(t, folder)); diff != "" {
		t.Errorf("files after failed builds (-want +got):\n%s", diff)
	}
	kit.inputs = "other modules"
	provided(kit, "current", "second")
}

func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}
