package workflows

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// runner runs the action's scripts in a repository whose last commit changes a Job.
type runner struct {
	folder, temp string
	base         string // commit before the change
	environment  []string
}

// gh replaces GitHub's program: it records its arguments and reports one existing comment of the action if OURS is
// set.
const gh = `#!/bin/bash
echo "$*" >>"$RUNNER_TEMP/asked"
if [[ $* == *"$REFUSED"* && -n $REFUSED ]]; then exit 1; fi
for argument; do case $argument in body=@*) cp "${argument#body=@}" "$RUNNER_TEMP/written" ;; esac; done
if [[ $* == *"comments(first"* ]]; then echo "$OURS"; fi
`

func newRunner(t *testing.T) *runner {
	t.Helper()
	r := &runner{folder: t.TempDir(), temp: t.TempDir()}
	bin := t.TempDir()
	write(t, filepath.Join(bin, "gh"), gh)
	write(t, filepath.Join(bin, "curl"), "#!/bin/bash\ncp \"$RELEASE\"/* .\n")
	r.environment = append(os.Environ(),
		"PATH="+r.temp+"/podverdict-bin:"+bin+":"+os.Getenv("PATH"), "RUNNER_TEMP="+r.temp, "RUNNER_OS=Linux", "GITHUB_PATH="+r.temp+"/path",
		"RUNNER_ARCH="+map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH], "VERSION=v0.1.0",
		"GITHUB_STEP_SUMMARY="+r.temp+"/summary.md", "GITHUB_WORKFLOW=podverdict", "GITHUB_JOB=check", "PULL_REQUEST=PR_7", "FORK=false",
		"PATHS=my manifests\n\n", "FAIL_ON=error", "SARIF=podverdict.sarif",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	)
	examples, err := filepath.Abs("../../examples/what-if")
	if err != nil {
		t.Fatal(err)
	}
	r.must(t, `git init --quiet && mkdir "my manifests" && cp "`+examples+`/job.yaml" "my manifests/train.yaml" && echo 'a: 1' >other.yaml && git add . && git commit --quiet -m a`)
	r.base = r.must(t, "git rev-parse HEAD")
	r.must(t, `cp "`+examples+`/new-job.yaml" "my manifests/train.yaml" && echo 'a: 2' >other.yaml && git commit --quiet -a -m b`)
	return r
}

// try runs a script as GitHub's runner does and returns its output.
func (r *runner) try(t *testing.T, script string, environment ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script)
	command.Dir, command.Env = r.folder, slices.Concat(r.environment, environment)
	out, err := command.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (r *runner) must(t *testing.T, script string, environment ...string) string {
	t.Helper()
	out, err := r.try(t, script, environment...)
	if err != nil {
		t.Fatalf("%s\n%v\n%s", script, err, out)
	}
	return out
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// scripts returns the action's scripts by the names of their steps.
func scripts(t *testing.T) map[string]string {
	t.Helper()
	var action struct {
		Runs struct{ Steps []struct{ Name, Run string } }
	}
	read(t, "../../action.yml", &action)
	named := map[string]string{}
	for _, step := range action.Runs.Steps {
		if step.Run != "" {
			named[step.Name] = step.Run
		}
	}
	if len(named) != 4 {
		t.Fatalf("the action has %d scripts", len(named))
	}
	return named
}

// The action installs a release, writes findings for code scanning, and comments on the verdicts that a pull request
// changes.
func TestActionRuns(t *testing.T) {
	release, programs := t.TempDir(), t.TempDir()
	r := newRunner(t)
	archive := "podverdict_0.1.0_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	r.must(t, `CGO_ENABLED=0 go -C "`+root+`" build -o "`+programs+`/" ./cmd/podverdict && tar -czf "`+release+"/"+archive+`" -C "`+programs+`" podverdict`)
	text, err := os.ReadFile(filepath.Join(release, archive))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(release, "checksums.txt"), fmt.Sprintf("%x  %s\n", sha256.Sum256(text), archive))

	steps := scripts(t)
	r.must(t, steps["Install podverdict"], "RELEASE="+release)
	r.must(t, steps["Check"])
	if sarif := r.must(t, "cat podverdict.sarif"); !strings.Contains(sarif, `"version": "2.1.0"`) {
		t.Errorf("the findings are %s", sarif)
	}
	r.must(t, steps["Compare with the base of the pull request"], "BASE="+r.base)
	r.must(t, steps["Comment on the pull request"])
	written := r.must(t, `cat "$RUNNER_TEMP/written"`)
	for _, want := range []string{"<!-- podverdict ", "\n## `my manifests/train.yaml`\n", "FailJob -&gt; Ignore"} {
		if !strings.Contains(written, want) {
			t.Errorf("%q is not in\n%s", want, written)
		}
	}
	if summary := r.must(t, `cat "$GITHUB_STEP_SUMMARY"`); !strings.HasSuffix(written, summary) {
		t.Errorf("the summary is\n%s", summary)
	}
	if strings.Contains(written, "other.yaml") || r.must(t, "git worktree list | wc -l") != "1" {
		t.Errorf("more than was asked for:\n%s", written)
	}
}

func TestActionComments(t *testing.T) {
	long := strings.Repeat("| "+strings.Repeat("ä", 100)+" |\n", 3000)
	for _, test := range []struct {
		name, changes, ours, refused, fork string
		asked, written, said               string
		fails                              bool
	}{
		{name: "nothing to say", asked: "!Comment(input"},
		{name: "the first comment", changes: "## `a.yaml`\n", asked: "addComment(input", written: "## `a.yaml`"},
		{name: "the comment of an earlier run", changes: "## `b.yaml`\n", ours: "IC_5", asked: "updateIssueComment(input", written: "## `b.yaml`"},
		{name: "the changes are taken back", ours: "IC_5", asked: "updateIssueComment(input", written: "No verdict changes."},
		{name: "more than GitHub takes", changes: long, asked: "addComment(input", written: "This is cut: the rest is in the summary of the workflow run."},
		{name: "no permission to read", changes: "a", refused: "comments(first", said: "::error::", fails: true},
		{name: "no permission to write", changes: "a", refused: "addComment", said: "::error::", fails: true},
		{name: "a fork has no permission", changes: "a", refused: "addComment", fork: "true", said: "::warning::"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRunner(t)
			write(t, filepath.Join(r.temp, "podverdict-changes.md"), test.changes)
			out, err := r.try(t, scripts(t)["Comment on the pull request"], "OURS="+test.ours, "REFUSED="+test.refused, "FORK="+test.fork)
			if (err != nil) != test.fails || !strings.HasPrefix(out, test.said) {
				t.Fatalf("%v: %s", err, out)
			}
			if test.said != "" {
				return
			}
			asked := r.must(t, `cat "$RUNNER_TEMP/asked"`)
			if absent, ok := strings.CutPrefix(test.asked, "!"); strings.Contains(asked, strings.TrimPrefix(test.asked, "!")) == ok {
				t.Errorf("%q (%q) in\n%s", test.asked, absent, asked)
			}
			if test.ours != "" && !strings.Contains(asked, "id="+test.ours) {
				t.Errorf("the comment is not changed by its id:\n%s", asked)
			}
			written, _ := os.ReadFile(filepath.Join(r.temp, "written"))
			if !strings.HasSuffix(strings.TrimSpace(string(written)), test.written) || bytes.Count(written, []byte("\n")) > 3000 {
				t.Errorf("%d bytes end with %.200q", len(written), written[max(0, len(written)-200):])
			}
		})
	}
}
