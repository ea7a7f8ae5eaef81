package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/playground"
)

// TestExamples runs every line of every Example verbatim, in a folder with the files that it names. TestClusterExamples runs the lines that
// read a cluster. Lines that watch or serve are interrupted after their first output, and must then exit successfully.
func TestExamples(t *testing.T) {
	skipWithRace(t)
	bin := exampleFolder(t)
	lines := 0
	for _, line := range exampleLines(t) {
		if !readsCluster.MatchString(line) {
			runExample(t, bin, line)
			lines++
		}
	}
	if lines < 20 {
		t.Errorf("only %d lines need no cluster", lines)
	}
}

// readsCluster matches examples that name cluster resources or change a cluster.
var readsCluster = regexp.MustCompile(`kubectl| (jobs|cronjobs)[ ,]| -A\b| (job|cronjob|pod)/|podverdict rescue| --cluster`)

// exampleLines returns the example lines of every command.
func exampleLines(t *testing.T) []string {
	t.Helper()
	var lines []string
	for _, verb := range runnable(newRoot(newProgram("podverdict"))) {
		if verb.Example == "" {
			t.Errorf("%s has no example", verb.CommandPath())
			continue
		}
		for line := range strings.SplitSeq(verb.Example, "\n") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

func runExample(t *testing.T, bin, line string) {
	t.Helper()
	line = strings.ReplaceAll(line, "127.0.0.1:8080", "127.0.0.1:0") // a free port
	if !strings.Contains(line, "|") {
		line = "exec " + line // lets an interrupt reach the program
	}
	command := exec.CommandContext(t.Context(), "bash", "-c", line)
	command.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	var out []byte
	var err error
	if strings.Contains(line, "--watch") || strings.Contains(line, "podverdict playground") {
		out, err = interrupted(command)
	} else {
		out, err = command.CombinedOutput()
	}
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != cli.ExitFindings) {
		t.Errorf("%s: %v\n%s", line, err, out)
	}
}

// interrupted runs a command and interrupts it after its first output.
func interrupted(command *exec.Cmd) ([]byte, error) {
	var stderr bytes.Buffer
	command.Stderr = &stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	if _, err := stdout.Read(make([]byte, 1)); err == nil {
		err = command.Process.Signal(os.Interrupt)
		if err != nil {
			return nil, err
		}
	}
	rest, _ := io.ReadAll(stdout)
	err = command.Wait() // stderr is complete only after Wait
	return append(rest, stderr.Bytes()...), err
}

// runnable returns the commands that can be run, without the ones added by cobra.
func runnable(root *cobra.Command) []*cobra.Command {
	var verbs []*cobra.Command
	for _, verb := range root.Commands() {
		if verb.HasSubCommands() {
			verbs = append(verbs, runnable(verb)...)
		} else if verb.Name() != "help" && (root.Name() != "completion" || verb.Name() == "kubectl") {
			verbs = append(verbs, verb)
		}
	}
	return verbs
}

// exampleFolder changes to a folder with the files of the examples, and returns a folder with programs. The files come from
// testdata/example and, under other names, from the quickstart.
func exampleFolder(t *testing.T) (bin string) {
	t.Helper()
	job, pods, one := quickstart(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	files := os.DirFS("testdata/example")
	folder := t.TempDir()
	if err := os.CopyFS(folder, files); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	bin = t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "podverdict")); err != nil {
		t.Fatal(err)
	}
	all := job + "---\n" + pods
	for name, text := range map[string]string{
		"job.yaml": job, "new.yaml": job, "old.yaml": job, "new-job.yaml": job, "manifests/a/job.yaml": job, "pods.yaml": one, "pods/all.yaml": pods,
		"all.yaml": all, "dump.yaml": all, "pods.ndjson.zst": all, "requests.jsonl": `{"id":"1","op":"verdict","pod":{}}` + "\n",
		"my-engine":   "#!/bin/sh\nexec podverdict engine\n",
		"dist/README": "", "tests/README": "", "playground/dist/index.html": "page", "playground/dist/engine.wasm": "engine",
		"script.yaml": "pods:\n- {index: 2, attempt: 1-2, run: 10s-2m, exitCode: 42}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"podverdict-playground_0.1.0.zip", playground.BesideProgram()} {
		zipFolder(t, name, "playground/dist")
	}
	repository := exec.CommandContext(t.Context(), "bash", "-ec", "git init -q -b main; git add .; git -c user.name=a -c user.email=a@b commit -q -m a")
	if out, err := repository.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// zipFolder writes the files of a folder to a zip file, which is removed after the test.
func zipFolder(t *testing.T, name, folder string) {
	t.Helper()
	var text bytes.Buffer
	archive := zip.NewWriter(&text)
	err := errors.Join(archive.AddFS(os.DirFS(folder)), archive.Close())
	if err := errors.Join(err, os.WriteFile(name, text.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(name) })
}

// quickstart returns the example's Job, its Pods, and one of the Pods, renamed to the names used in examples.
func quickstart(t *testing.T) (job, pods, one string) {
	t.Helper()
	names := strings.NewReplacer("simulation-exit-42", "demo-7xk2p", "simulation", "demo")
	files, err := filepath.Glob("../../examples/quickstart/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := names.Replace(string(bytes.TrimSpace(data))) + "\n"
		switch filepath.Base(file) {
		case "job.yaml":
			job = text
			continue
		case "pod-exit-42.yaml":
			one = text
		}
		pods += "---\n" + text
	}
	return job, pods, one
}
