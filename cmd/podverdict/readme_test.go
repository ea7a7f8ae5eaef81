package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const readmePrompt = "    $ go run ./cmd/podverdict "

// Pages show what the commands print.
func TestReadme(t *testing.T) {
	t.Chdir("../..")
	for _, page := range []string{"README.md", "docs/tutorial.md", "docs/what-if.md"} {
		t.Run(page, func(t *testing.T) { checkPage(t, page) })
	}
}

func checkPage(t *testing.T, page string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	shown := strings.Split(string(text), readmePrompt)[1:]
	if len(shown) < 2 {
		t.Fatalf("%s shows %d commands, wanted 2 at least", page, len(shown))
	}
	for _, block := range shown {
		checkCommand(t, block)
	}
}

// checkCommand runs a command, and compares its output with what the page shows below it.
func checkCommand(t *testing.T, block string) {
	t.Helper()
	command, rest, _ := strings.Cut(block, "\n")
	var out, errs bytes.Buffer
	if code := run(append([]string{"podverdict"}, strings.Fields(command)...), strings.NewReader(""), &out, &errs); code > exitFindings {
		t.Errorf("%s: exit code %d: %s", command, code, errs.String())
	}
	if diff := cmp.Diff(indented(rest), strings.TrimRight(trimLines(out.String()), "\n")); diff != "" {
		t.Errorf("%s: the page differs (-page +output):\n%s", command, diff)
	}
}

// indented returns the text up to the first line that is not indented, without the
// indentation.
func indented(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" && !strings.HasPrefix(line, "    ") {
			break
		}
		lines = append(lines, strings.TrimPrefix(line, "    "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// trimLines drops the spaces at the ends of lines, which Markdown does not keep.
func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
