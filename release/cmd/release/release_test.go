package main

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"encoding/base64"
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
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
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
	t.Run("its checksums are signed", func(t *testing.T) { m.isSigned(t, public) })
	t.Run("its bill names the modules", m.hasBill)
	t.Run("it is a package of Debian", m.isDeb)
	t.Run("it is a package of Fedora", m.isRPM)
	t.Run("its images run as nobody", m.imagesAreWhole)
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
		t.Fatalf("%v: the tests need Debian's packages git, dpkg, rpm and mandoc (apt-get install --no-install-recommends rpm mandoc)", err)
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

// signingKey writes a key as cosign generate-key-pair does.
func signingKey(t *testing.T) (file string, public crypto.PublicKey) {
	t.Helper()
	private, text, err := cryptoutils.GeneratePEMEncodedECDSAKeyPair(elliptic.P256(), cryptoutils.StaticPasswordFunc([]byte(password)))
	if err != nil {
		t.Fatal(err)
	}
	public, err = cryptoutils.UnmarshalPEMToPublicKey(text)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "cosign.key")
	if err := os.WriteFile(file, private, 0o600); err != nil {
		t.Fatal(err)
	}
	return file, public
}

func isEqual(t *testing.T, first, second string) {
	t.Helper()
	a, b := contents(t, first), contents(t, second)
	for name, text := range a {
		// An ECDSA signature has a random part.
		if !bytes.Equal(text, b[name]) && name != "checksums.txt.sig" {
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
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "completions/_podverdict", "man/podverdict-eval.1"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	folder = m.extract(t, "podverdict-controller_0.1.0_"+m.p.String()+".tar.gz")
	execute(t, folder, "./podverdict-controller", "--help")
}

func (m made) isSigned(t *testing.T, public crypto.PublicKey) {
	t.Helper()
	text, err := cryptoutils.MarshalPublicKeyToPEM(public)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cosign.pub")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	execute(t, m.out, "bash", "-c", "base64 --decode checksums.txt.sig | openssl dgst -sha256 -verify "+file+" -signature /dev/stdin checksums.txt")
	verifier, err := signature.LoadVerifier(public, crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := base64.StdEncoding.DecodeString(m.read(t, "checksums.txt.sig"))
	if err != nil {
		t.Fatal(err)
	}
	sums := m.read(t, "checksums.txt")
	if err := verifier.VerifySignature(bytes.NewReader(signed), strings.NewReader(sums)); err != nil {
		t.Error(err)
	}
	if err := verifier.VerifySignature(bytes.NewReader(signed), strings.NewReader(sums+" ")); err == nil {
		t.Error("the signature is also one of another text")
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

func (m made) imagesAreWhole(t *testing.T) {
	index, err := layout.ImageIndexFromPath(m.file("images"))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 2 {
		t.Fatalf("%+v: %v", manifest, err)
	}
	for n, program := range []string{cli, controller} {
		below, err := index.ImageIndex(manifest.Manifests[n].Digest)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate.Index(below); err != nil {
			t.Error(err)
		}
		platforms, err := below.IndexManifest()
		if err != nil || len(platforms.Manifests) != 1 || platforms.Manifests[0].Platform.Architecture != m.p.arch {
			t.Fatalf("%+v: %v", platforms, err)
		}
		image, err := below.Image(platforms.Manifests[0].Digest)
		if err != nil {
			t.Fatal(err)
		}
		isWhole(t, image, program)
	}
}

// isWhole runs what an image starts.
func isWhole(t *testing.T, image v1.Image, program string) {
	t.Helper()
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if file.Config.User != "65532:65532" || !slices.Equal(file.Config.Entrypoint, []string{"/" + program}) {
		t.Errorf("the configuration is %+v", file.Config)
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers: %v", len(layers), err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	command := exec.CommandContext(t.Context(), "tar", "-x")
	command.Dir, command.Stdin = folder, content
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	execute(t, folder, "."+file.Config.Entrypoint[0], "--help")
}

// namesImage: what was pushed is what the installation runs, whatever a tag says later.
func (m made) namesImage(t *testing.T, images string) {
	t.Helper()
	pushed := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(images) + `/podverdict-controller@sha256:[0-9a-f]{64}$`).FindString(m.read(t, "images.txt"))
	if pushed == "" {
		t.Fatalf("images.txt is %s", m.read(t, "images.txt"))
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
