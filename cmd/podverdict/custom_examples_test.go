package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCustomExamples checks that the example policies have no findings and that their suites pass with full coverage.
func TestCustomExamples(t *testing.T) {
	t.Chdir("../..")
	for _, folder := range customExamples(t) {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			if got := mustRun(t, "check", folder, "--only", "rules"); !strings.HasPrefix(got, "no findings") {
				t.Errorf("check:\n%s", got)
			}
			if suite := read(t, filepath.Join(folder, "policy_test.yaml")); !strings.Contains(suite, "\ncoverage: {threshold: 100}\n") {
				t.Error("the suite does not ask for all of the policy")
			}
			if got := mustRun(t, "test", folder); got == "" {
				t.Error("the test says nothing")
			}
		})
	}
}

// TestCustomExamplesDocument checks that docs/custom-examples.md contains the policy of each example and the output of its commands.
func TestCustomExamplesDocument(t *testing.T) {
	t.Chdir("../..")
	const document = "docs/custom-examples.md"
	text := read(t, document)
	shown := withOutput(t, withPolicies(t, text))
	if *update {
		write(t, document, shown)
		return
	}
	if diff := cmp.Diff(text, shown); diff != "" {
		t.Errorf("%s differs (-document +examples):\n%s", document, diff)
	}
	for _, folder := range customExamples(t) {
		name := filepath.Base(folder)
		for _, want := range []string{"\n  name: " + name + "\n", readmePrompt + "eval -f " + folder, readmePrompt + "explain -f " + folder} {
			if strings.Count(text, want) != 1 {
				t.Errorf("%s has %d times %q", document, strings.Count(text, want), want)
			}
		}
	}
}

// customExamples returns the folders of the examples.
func customExamples(t *testing.T) []string {
	t.Helper()
	folders, err := filepath.Glob("examples/custom/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("examples: %v, %v", folders, err)
	}
	return folders
}

// withPolicies fills the YAML blocks of a document with the policies they contain or name.
func withPolicies(t *testing.T, text string) string {
	t.Helper()
	const begin, end = "\n```yaml\n", "```\n"
	blocks := strings.Split(text, begin)
	for i, block := range blocks[1:] {
		content, rest, closed := strings.Cut(block, end)
		if !closed {
			t.Fatalf("a block has no end:\n%s", block)
		}
		if _, named, found := strings.Cut(content, "\n  name: "); found {
			content, _, _ = strings.Cut(named, "\n")
		}
		policy, _, _ := strings.Cut(read(t, "examples/custom/"+strings.TrimSpace(content)+"/policy.yaml"), "---\n")
		blocks[i+1] = policy + end + rest
	}
	return strings.Join(blocks, begin)
}

// withOutput replaces the output of the commands in a document with their actual output.
func withOutput(t *testing.T, text string) string {
	t.Helper()
	blocks := strings.Split(text, readmePrompt)
	for i, block := range blocks[1:] {
		command, rest, _ := strings.Cut(block, "\n")
		out := mustRun(t, strings.Fields(command)...)
		blocks[i+1] = command + "\n" + indent(strings.TrimRight(trimLines(out), "\n")) + "\n\n" + afterIndented(rest)
	}
	return strings.Join(blocks, readmePrompt)
}

// afterIndented returns the text from the first line that is neither indented nor empty.
func afterIndented(text string) string {
	for text != "" && (text[0] == '\n' || strings.HasPrefix(text, "    ") && !strings.HasPrefix(text, readmePrompt)) {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

// mustRun returns the output of a command that must succeed without messages.
func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(append([]string{"podverdict"}, args...), strings.NewReader(""), &out, &errs); code != 0 || errs.Len() > 0 {
		t.Errorf("podverdict %s: exit code %d\n%s%s", strings.Join(args, " "), code, out.String(), errs.String())
	}
	return out.String()
}
