package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// docs/simulate.md shows what the example prints and draws.
func TestSimulateDocument(t *testing.T) {
	t.Chdir("../..")
	const document, picture = "docs/simulate.md", "docs/simulate.svg"
	text := read(t, document)
	head, block, found := strings.Cut(text, readmePrompt)
	if !found {
		t.Fatalf("%s shows no command", document)
	}
	command, rest, _ := strings.Cut(block, "\n")
	drawn := filepath.Join(t.TempDir(), "simulate.svg")
	var out, errs bytes.Buffer
	args := strings.Fields(strings.Replace(command, picture, drawn, 1))
	if code := run(append([]string{"podverdict"}, args...), strings.NewReader(""), &out, &errs); code != exitFindings {
		t.Fatalf("%s: exit code %d: %s", command, code, errs.String())
	}
	shown := indented(rest)
	want := strings.TrimRight(trimLines(out.String()), "\n")
	if *update {
		_, tail, _ := strings.Cut(rest, "\n\n!")
		write(t, document, head+readmePrompt+command+"\n"+indent(want)+"\n\n!"+tail)
		write(t, picture, read(t, drawn))
		return
	}
	for _, block := range strings.Split(rest, readmePrompt)[1:] {
		checkCommand(t, block)
	}
	if diff := cmp.Diff(shown, want); diff != "" {
		t.Errorf("%s differs (-document +output):\n%s", document, diff)
	}
	if diff := cmp.Diff(read(t, picture), read(t, drawn)); diff != "" {
		t.Errorf("%s differs (-document +output):\n%s", picture, diff)
	}
}

func indent(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		if lines[i] != "" {
			lines[i] = "    " + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
