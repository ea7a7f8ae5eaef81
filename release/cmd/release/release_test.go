package main

import (
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-containerregistry/pkg/registry"
)

const (
	root     = "../../.."
	password = "for the test"
)

// made is a release of the newest commit for this machine's architecture, as v0.1.0.
type made struct {
	out string
	p   platform
}

// One release is made, and looked at in all its parts; the second, of another folder, must have the same bytes.
func TestRelease(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	key, public := signingKey(t)
	t.Setenv("COSIGN_PASSWORD", password)
	images := strings.TrimPrefix(server.URL, "http://") + "/podverdict"
	commit := strings.TrimSpace(string(execute(t, root, "git", "rev-parse", "HEAD")))
	first, second := releaseOf(t, commit, key, images), releaseOf(t, commit, key, images)
	m := made{out: first, p: platform{"linux", runtime.GOARCH}}

	t.Run("has the same bytes again", func(t *testing.T) { isEqual(t, first, second) })
	t.Run("its archive runs in a clean folder", m.archiveRuns)
	t.Run("it installs as documented", m.isInstalled)
	t.Run("its checksums are signed", func(t *testing.T) {
		for text, want := range map[string]bool{m.read(t, "checksums.txt"): true, m.read(t, "checksums.txt") + " ": false} {
			if err := verifyBlob(t, m.file("checksums.txt.sigstore.json"), text, public); (err == nil) != want {
				t.Error(err)
			}
		}
	})
	t.Run("its bill names the modules", m.hasBill)
	t.Run("it is a package of Debian", m.isDeb)
	t.Run("it is a package of Fedora", m.isRPM)
	t.Run("its images run as nobody", m.imagesAreWhole)
	t.Run("its images have bills", func(t *testing.T) { m.imagesHaveBills(t, images) })
	t.Run("Helm pulls its chart", func(t *testing.T) { m.isPulled(t, images) })
	t.Run("its chart and its installation name the image", func(t *testing.T) { m.namesImage(t, images) })
	t.Run("package managers find it", m.isFound)
	t.Run("its action runs", m.actionRuns)
	t.Run("its GitLab template runs", m.gitLabRuns)
	t.Run("its hooks run", m.hooksRun)
	t.Run("its manual has no mistakes", m.hasManual)
	t.Run("it says what is new", func(t *testing.T) {
		if notes := m.read(t, "notes.md"); !strings.Contains(notes, "The first release") || strings.Contains(notes, "## ") {
			t.Errorf("the notes are\n%s", notes)
		}
	})
}

// releaseOf makes a release of a clone: what is not committed is not in it, and each clone has a path of its own.
func releaseOf(t *testing.T, commit, key, images string) (out string) {
	t.Helper()
	clone, out := filepath.Join(t.TempDir(), "clone"), filepath.Join(t.TempDir(), "dist")
	execute(t, ".", "git", "clone", "--quiet", root, clone)
	execute(t, clone, "git", "checkout", "--quiet", "--detach", commit)
	for tag := range strings.FieldsSeq(string(execute(t, clone, "git", "tag", "--points-at", "HEAD"))) {
		execute(t, clone, "git", "tag", "--delete", tag)
	}
	execute(t, clone, "git", "tag", "v0.1.0")
	err := run(t.Context(), []string{
		"-source", clone, "-o", out, "-platforms", "linux/" + runtime.GOARCH, "-key", key, "-images", images, "-push",
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func execute(t *testing.T, folder, program string, arguments ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil && !strings.Contains(program, "/") {
		t.Fatalf("%v: the tests need Debian's packages git, dpkg, rpm, mandoc and gh (apt-get install --no-install-recommends rpm mandoc gh)", err)
	}
	command := exec.CommandContext(t.Context(), program, arguments...)
	command.Dir = folder
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", command, err, out, stderr.String())
	}
	return out
}

func isEqual(t *testing.T, first, second string) {
	t.Helper()
	a, b := contents(t, first), contents(t, second)
	for name, text := range a {
		// An ECDSA signature has a random part.
		if !bytes.Equal(text, b[name]) && name != "checksums.txt.sigstore.json" {
			t.Errorf("%s differs, or is not there: %d bytes and %d", name, len(text), len(b[name]))
		}
	}
	if len(a) != len(b) || len(a) < 20 {
		t.Errorf("there are %d files and %d", len(a), len(b))
	}
}

func contents(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	_ = filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, _ := filepath.Rel(folder, path)
		text, err := os.ReadFile(path)
		all[name] = text
		return err
	})
	return all
}

func (m made) file(name string) string { return filepath.Join(m.out, name) }

func (m made) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(m.file(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (m made) examples(t *testing.T) (folder string) {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join(root, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// extract unpacks an archive into a clean folder.
func (m made) extract(t *testing.T, name string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	execute(t, folder, "tar", "-xzf", m.file(name))
	return folder
}

var versionLine = regexp.MustCompile(`^podverdict v0\.1\.0, commit [0-9a-f]{12} of \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ, Kubernetes `)

func (m made) archiveRuns(t *testing.T) {
	execute(t, m.out, "sha256sum", "--check", "--strict", "--quiet", "checksums.txt")
	folder := m.extract(t, "podverdict_0.1.0_"+m.p.String()+".tar.gz")
	if out := execute(t, folder, "./podverdict", "version"); !versionLine.Match(out) {
		t.Errorf("version prints %s", out)
	}
	if out := execute(t, folder, "./podverdict", "eval", "-f", filepath.Join(m.examples(t), "quickstart")); !bytes.Contains(out, []byte("8 of 9 Pods failed: 1 FailJob")) {
		t.Errorf("eval prints %s", out)
	}
	execute(t, folder, "bash", "-n", "completions/podverdict.bash")
	for _, name := range []string{"LICENSE", "THIRD_PARTY_LICENSES", "README.md", "CHANGELOG.md", "completions/_podverdict", "man/podverdict-eval.1"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	folder = m.extract(t, "podverdict-controller_0.1.0_"+m.p.String()+".tar.gz")
	execute(t, folder, "./podverdict-controller", "--help")
}

// isInstalled follows docs/install.md.
func (m made) isInstalled(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "install.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(text), "of your PATH:\n\n")
	block, _, _ = strings.Cut(block, "\n\n")
	if !found || strings.Count(block, "\n    ") != 3 {
		t.Fatalf("the commands are\n%s", block)
	}
	folder, home := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	execute(t, folder, "cp", m.file("podverdict_0.1.0_"+m.p.String()+".tar.gz"), m.file("checksums.txt"), ".")
	execute(t, folder, "bash", "-eux", "-c", strings.ReplaceAll(block, "linux_amd64", m.p.String())+"\nsha256sum --check --ignore-missing checksums.txt")
	if out := execute(t, folder, filepath.Join(home, ".local", "bin", "kubectl-podverdict"), "version"); !versionLine.Match(out) {
		t.Errorf("version prints %s", out)
	}
}

func (m made) hasBill(t *testing.T) {
	var bill cyclonedx.BOM
	text := m.read(t, "podverdict_0.1.0_"+m.p.String()+".cdx.json")
	if err := cyclonedx.NewBOMDecoder(strings.NewReader(text), cyclonedx.BOMFileFormatJSON).Decode(&bill); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"std", "github.com/google/cel-go", "k8s.io/api"} {
		if !slices.ContainsFunc(*bill.Components, func(c cyclonedx.Component) bool { return c.Name == name && c.Version != "" }) {
			t.Errorf("the bill does not have %s", name)
		}
	}
	if c := bill.Metadata.Component; c.Name != "podverdict" || c.Version != "v0.1.0" {
		t.Errorf("the bill is of %s %s", c.Name, c.Version)
	}
}

func (m made) isDeb(t *testing.T) {
	folder, name := t.TempDir(), m.file("podverdict_0.1.0_"+m.p.String()+".deb")
	if out := execute(t, ".", "dpkg-deb", "--field", name, "Package", "Version", "Architecture"); !strings.Contains(string(out), "Version: 0.1.0\n") {
		t.Errorf("the fields are %s", out)
	}
	execute(t, ".", "dpkg-deb", "--extract", name, folder)
	t.Setenv("PATH", filepath.Join(folder, "usr", "bin")+":"+os.Getenv("PATH"))
	if out := execute(t, ".", "kubectl-podverdict", "version"); !versionLine.Match(out) {
		t.Errorf("version prints %s", out)
	}
	if out := execute(t, ".", "kubectl_complete-podverdict", "sim"); !bytes.HasPrefix(out, []byte("simulate\t")) {
		t.Errorf("kubectl completes to %s", out)
	}
}

func (m made) isRPM(t *testing.T) {
	name := m.file("podverdict_0.1.0_" + m.p.String() + ".rpm")
	listed := string(execute(t, ".", "rpm", "--query", "--package", "--info", "--list", name))
	for _, want := range []string{"Version     : 0.1.0\n", "License     : Apache-2.0\n", "/usr/bin/podverdict\n", "/usr/share/man/man1/podverdict.1\n"} {
		if !strings.Contains(listed, want) {
			t.Errorf("%q is not in\n%s", want, listed)
		}
	}
	execute(t, ".", "rpm", "--checksig", "--nosignature", name)
}

// namesImage: what was pushed is what the installation runs, whatever a tag says later.
func (m made) namesImage(t *testing.T, images string) {
	t.Helper()
	pushed := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(images) + `/podverdict-controller@sha256:[0-9a-f]{64}$`).FindString(m.read(t, "pushed.txt"))
	if pushed == "" {
		t.Fatalf("pushed.txt is %s", m.read(t, "pushed.txt"))
	}
	if !strings.Contains(m.read(t, "podverdict-install.yaml"), "image: "+pushed+"\n") {
		t.Error("the installation does not name it")
	}
	folder := m.extract(t, "podverdict-0.1.0.tgz")
	for name, want := range map[string]string{
		"values.yaml": "\nimage: \"" + pushed + "\"\n", "Chart.yaml": "\nappVersion: \"0.1.0\"\n", "base/deployment.yaml": "kind: Deployment\n",
		"base/crd/podverdict.io_podfailurepolicies.yaml": "kind: CustomResourceDefinition\n", "monitoring/alerts.yaml": "groups:\n",
		"templates/deployment.yaml": "toYaml", "values.schema.json": "additionalProperties",
	} {
		text, err := os.ReadFile(filepath.Join(folder, "podverdict", name))
		if err != nil || !strings.Contains("\n"+string(text), want) {
			t.Errorf("%s does not have %q: %v\n%s", name, want, err, text)
		}
	}
	for _, name := range []string{"base/doc.go", "base/components", "base/kustomization.yaml", "tests", "monitoring/mixin.libsonnet"} {
		if _, err := os.Stat(filepath.Join(folder, "podverdict", name)); err == nil {
			t.Errorf("%s is in the chart", name)
		}
	}
}

// isFound holds krew's manifest and Homebrew's formula to the archive.
func (m made) isFound(t *testing.T) {
	archive := "podverdict_0.1.0_" + m.p.String() + ".tar.gz"
	sum, err := sha256Of(m.file(archive))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"podverdict.krew.yaml", "podverdict.rb"} {
		text := m.read(t, name)
		if !strings.Contains(text, "/releases/download/v0.1.0/"+archive) || !strings.Contains(text, sum) {
			t.Errorf("%s does not have the archive:\n%s", name, text)
		}
	}
	folder := m.extract(t, archive)
	for _, path := range regexp.MustCompile(`(?m)(?:from: |install(?:_symlink)? (?:Dir\[)?")([\w./*-]+)`).FindAllStringSubmatch(m.read(t, "podverdict.rb")+m.read(t, "podverdict.krew.yaml"), -1) {
		if found, err := filepath.Glob(filepath.Join(folder, path[1])); err != nil || len(found) == 0 {
			t.Errorf("the archive does not have %s", path[1])
		}
	}
}
