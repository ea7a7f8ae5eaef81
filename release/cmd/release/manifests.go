package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// downloads is where a release's files are.
const downloads = home + "/releases/download/v"

// download is an archive as package managers name it.
type download struct {
	OS, Arch, URL, SHA256, Program string
}

// downloads returns the archives of podverdict.
func (r *release) downloads() (all []download, err error) {
	for _, p := range r.platforms {
		name := r.archive(p, cli)
		sum, err := sha256Of(name)
		if err != nil {
			return nil, err
		}
		all = append(all, download{p.os, p.arch, downloads + r.version + "/" + filepath.Base(name), sum, p.program(cli)})
	}
	return all, nil
}

func sha256Of(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// krewManifest is for the index of krew, which asks for names that say what a plugin is about.
const krewManifest = `apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: podverdict
spec:
  version: v{{.Version}}
  homepage: https://github.com/podverdict/podverdict
  shortDescription: Verdicts of podFailurePolicies on failed Pods
  description: |
    Evaluates the rules of a Job's podFailurePolicy on its failed Pods exactly
    as Kubernetes does, says which rule decided and why, what the Job does next,
    what a change of the policy would do, and simulates whole runs of a Job.
  platforms:
{{- range .Downloads}}
  - selector:
      matchLabels:
        os: {{.OS}}
        arch: {{.Arch}}
    uri: {{.URL}}
    sha256: {{.SHA256}}
    bin: {{.Program}}
    files:
    - from: {{.Program}}
      to: .
    - from: LICENSE
      to: .
{{- end}}
`

// formula is for a tap of Homebrew. The program is ready, so nothing is built.
//
//nolint:dupword // blocks of Ruby end one after the other
const formula = `class Podverdict < Formula
  desc "What a failed Pod means for its Kubernetes Job, and why"
  homepage "https://github.com/podverdict/podverdict"
  version "{{.Version}}"
  license "Apache-2.0"
{{range $os, $downloads := .Systems}}
  on_{{$os}} do
{{- range $downloads}}
    on_{{if eq .Arch "arm64"}}arm{{else}}intel{{end}} do
      url "{{.URL}}"
      sha256 "{{.SHA256}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "podverdict"
    bin.install "kubectl_complete-podverdict"
    bin.install_symlink "podverdict" => "kubectl-podverdict"
    man1.install Dir["man/*"]
    bash_completion.install "completions/podverdict.bash" => "podverdict"
    zsh_completion.install "completions/_podverdict"
    fish_completion.install "completions/podverdict.fish"
  end

  test do
    assert_match "podverdict v#{version}", shell_output("#{bin}/podverdict version")
  end
end
`

func (r *release) writeKrew(context.Context) error {
	return r.writeManifest("podverdict.krew.yaml", krewManifest, func(download) bool { return true })
}

func (r *release) writeFormula(context.Context) error {
	return r.writeManifest("podverdict.rb", formula, func(d download) bool { return d.OS != "windows" })
}

// writeManifest writes a template of the archives that are wanted.
func (r *release) writeManifest(name, text string, wanted func(download) bool) error {
	parsed, err := template.New(name).Parse(text)
	if err != nil {
		return err
	}
	all, err := r.downloads()
	if err != nil {
		return err
	}
	systems := map[string][]download{}
	for _, d := range all {
		if wanted(d) {
			systems[strings.Replace(d.OS, "darwin", "macos", 1)] = append(systems[strings.Replace(d.OS, "darwin", "macos", 1)], d)
		}
	}
	return create(r.file("%s", name), func(out io.Writer) error {
		return parsed.Execute(out, map[string]any{"Version": r.version, "Downloads": all, "Systems": systems})
	})
}

// writeGenerated writes what the program itself generates.
func (r *release) writeGenerated(ctx context.Context) error {
	if _, err := r.ask(ctx, "generate", "bundle", "-o", r.file("podverdict-rego-%s.tar.gz", r.version)); err != nil {
		return err
	}
	generated := map[string][]string{"podverdict-admission-policies.yaml": {"generate", "vap"}}
	if r.push {
		generated["podverdict-install.yaml"] = []string{"generate", "install", "--image", fmt.Sprintf("%s/%s@%s", r.images, controller, r.digest)}
	}
	for name, arguments := range generated {
		text, err := r.ask(ctx, arguments...)
		if err != nil {
			return err
		}
		if err := write(r.file("%s", name), text); err != nil {
			return err
		}
	}
	schemas, err := filepath.Glob(filepath.Join(r.source, "docs", "schemas", "*.json"))
	if err != nil {
		return err
	}
	for _, schema := range schemas {
		text, err := os.ReadFile(schema)
		if err != nil {
			return err
		}
		if err := write(r.file("podverdict-%s.schema.json", strings.TrimSuffix(filepath.Base(schema), ".json")), text); err != nil {
			return err
		}
	}
	return nil
}
