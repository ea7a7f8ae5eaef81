package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// checkout is a repository with a pull request that changes a Job, and a PATH with programs that stand for those of a runner.
type checkout struct {
	folder, bin, temp string
	base              string // the commit before
	environment       []string
}

func (m made) checkOut(t *testing.T) *checkout {
	t.Helper()
	c := &checkout{folder: t.TempDir(), bin: t.TempDir(), temp: t.TempDir()}
	for name, script := range map[string]string{
		// It takes what it is asked for from the release.
		"curl":    "for url in \"$@\"; do case $url in *v0.1.0/*) cp \"" + m.out + "/${url##*/}\" . ;; esac; done",
		"apt-get": "true",
	} {
		if err := os.WriteFile(filepath.Join(c.bin, name), []byte("#!/bin/bash\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c.environment = append(os.Environ(),
		"PATH="+c.temp+"/podverdict-bin:"+c.bin+":"+os.Getenv("PATH"), "RUNNER_TEMP="+c.temp, "RUNNER_OS=Linux", "GITHUB_PATH="+c.temp+"/path",
		"GITHUB_STEP_SUMMARY="+c.temp+"/summary.md", "GITHUB_WORKFLOW=podverdict", "GITHUB_JOB=check",
		"RUNNER_ARCH="+map[string]string{"amd64": "X64", "arm64": "ARM64"}[m.p.arch],
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	)
	what := filepath.Join(m.examples(t), "what-if")
	c.script(t, `git init --quiet && mkdir "my manifests" && cp "`+what+`/job.yaml" "my manifests/train.yaml" && echo 'a: 1' >other.yaml && git add . && git commit --quiet -m a`)
	c.base = strings.TrimSpace(c.script(t, "git rev-parse HEAD"))
	c.script(t, `cp "`+what+`/new-job.yaml" "my manifests/train.yaml" && echo 'a: 2' >other.yaml && git commit --quiet -a -m b`)
	return c
}

// script runs a script as a runner does.
func (c *checkout) script(t *testing.T, script string, environment ...string) (stdout string) {
	t.Helper()
	out, err := c.try(t, script, environment...)
	if err != nil {
		t.Fatalf("%s\n%v\n%s", script, err, out)
	}
	return out
}

// try runs a script that may fail.
func (c *checkout) try(t *testing.T, script string, environment ...string) (stdout string, err error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script)
	command.Dir, command.Env = c.folder, slices.Concat(c.environment, environment)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, stderr.String())
	}
	return string(out), err
}

// step is one of the action.
type step struct {
	Name, Run string
	Env       map[string]string
}

func actionSteps(t *testing.T) []step {
	t.Helper()
	var action struct{ Runs struct{ Steps []step } }
	parseFile(t, "action.yml", &action)
	return action.Runs.Steps
}

// The action installs the release, writes findings for code scanning, and comments on the verdicts that a pull request changes.
func (m made) actionRuns(t *testing.T) {
	c := m.checkOut(t)
	g := &gitHub{}
	given := strings.NewReplacer(
		"${{ inputs.version }}", "v0.1.0", "${{ inputs.paths }}", "my manifests\n\n", "${{ inputs.fail-on }}", "error", "${{ inputs.sarif }}", "podverdict.sarif",
		"${{ github.event.pull_request.base.sha }}", c.base, "${{ github.event.pull_request.node_id }}", "PR_7", "${{ inputs.token }}", "secret",
	)
	ran := 0
	gh := g.environment(t)
	for _, step := range actionSteps(t) {
		environment := slices.Clone(gh)
		for name, value := range step.Env {
			environment = append(environment, name+"="+given.Replace(value))
		}
		if step.Run != "" {
			ran++
			c.script(t, step.Run, environment...)
		}
	}
	if ran != 4 {
		t.Errorf("%d scripts ran", ran)
	}
	var sarif struct{ Version string }
	if text := c.script(t, "cat podverdict.sarif"); json.Unmarshal([]byte(text), &sarif) != nil || sarif.Version != "2.1.0" {
		t.Errorf("the findings are %s", text)
	}
	comment := strings.Join(g.bodies(), "\n---\n")
	for _, want := range []string{"ours: ## `my manifests/train.yaml`\n", "FailJob -&gt; Ignore"} {
		if !strings.Contains(comment, want) {
			t.Errorf("%q is not in\n%s", want, comment)
		}
	}
	if summary := c.script(t, `cat "$GITHUB_STEP_SUMMARY"`); "ours: "+summary != comment {
		t.Errorf("the summary is\n%s", summary)
	}
	if strings.Contains(comment, "other.yaml") || strings.TrimSpace(c.script(t, "git worktree list | wc -l")) != "1" {
		t.Errorf("more than was asked for:\n%s", comment)
	}
}

// The template for GitLab writes a report of tests.
func (m made) gitLabRuns(t *testing.T) {
	c := m.checkOut(t)
	var pipeline struct {
		Variables  map[string]string
		Podverdict struct {
			Before []string `yaml:"before_script"`
			Script []string
		}
	}
	parseFile(t, "examples/ci/gitlab.yaml", &pipeline)
	environment := []string{}
	for name, value := range pipeline.Variables {
		environment = append(environment, name+"="+value)
	}
	lines := slices.Concat(pipeline.Podverdict.Before, pipeline.Podverdict.Script)
	report := c.script(t, strings.Join(lines, "\n")+"\ncat podverdict.xml", environment...)
	if len(lines) < 7 || !strings.Contains(report, "<testsuite") {
		t.Errorf("%d lines; the report is\n%s", len(lines), report)
	}
}

// A repository has files that are none of the hooks' business.
func (m made) hooksRun(t *testing.T) {
	c := m.checkOut(t)
	var hooks []struct {
		ID, Entry string
		Args      []string
	}
	parseFile(t, ".pre-commit-hooks.yaml", &hooks)
	c.script(t, `mkdir -p "$RUNNER_TEMP/podverdict-bin" && tar -xzf "`+m.file("podverdict_0.1.0_"+m.p.String()+".tar.gz")+`" -C "$RUNNER_TEMP/podverdict-bin"
		cp "`+m.examples(t)+`/quickstart/job.yaml" "my manifests/train.yaml"
		echo '{"name": "web"}' >package.json; echo 'a: {{ .Values.a }}' >template.yaml`)
	for _, hook := range hooks {
		if strings.HasSuffix(hook.Entry, " test") {
			continue // there are no suites, and it says so
		}
		c.script(t, hook.Entry+" "+strings.Join(hook.Args, " "))
	}
	if len(hooks) != 3 {
		t.Errorf("there are %d hooks", len(hooks))
	}
}

func parseFile(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
