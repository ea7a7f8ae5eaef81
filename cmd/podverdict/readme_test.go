package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/internal/testing/dataset"
)

const readmePrompt = "    $ go run ./cmd/podverdict "

// Pages show what the commands print.
func TestReadme(t *testing.T) {
	t.Chdir("../..")
	for _, page := range []string{
		"README.md", "docs/why.md", "docs/tutorial.md", "docs/what-if.md", "docs/failure-chain.md", "docs/living-pods.md", "docs/retries.md", "docs/custom-policies.md", "docs/simulate.md", "docs/report.md",
	} {
		t.Run(page, func(t *testing.T) { checkPage(t, page) })
	}
}

// The page about a failed month is true of the month that its readers make.
func TestFailedMonth(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads 10,000 Pods again and again")
	}
	skipWithRace(t)
	page, err := filepath.Abs("../../docs/failed-month.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	var month bytes.Buffer
	if err := dataset.Write(&month, dataset.Month().Records); err != nil {
		t.Fatal(err)
	}
	write(t, "month.ndjson", month.String())
	checkPage(t, page)
}

// The page about suggest shows what testdata/script/suggest.txtar wants.
func TestSuggestPage(t *testing.T) {
	const page, prompt = "../../docs/suggest.md", "    $ podverdict suggest dump.ndjson\n"
	script, err := txtar.ParseFile("testdata/script/suggest.txtar")
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(script.Files, func(f txtar.File) bool { return f.Name == "want.yaml" })
	want := strings.TrimRight(string(script.Files[at].Data), "\n")
	text := read(t, page)
	_, rest, _ := strings.Cut(text, prompt)
	shown := indented(rest)
	if diff := cmp.Diff(shown, want); diff != "" && !*update {
		t.Errorf("the page differs (-page +script):\n%s", diff)
	}
	if *update {
		write(t, page, strings.Replace(text, prompt+indent(shown), prompt+indent(want), 1))
	}
}

func checkPage(t *testing.T, page string) {
	t.Helper()
	text := read(t, page)
	shown := strings.Split(text, readmePrompt)[1:]
	if len(shown) < 2 {
		t.Fatalf("%s shows %d commands, wanted 2 at least", page, len(shown))
	}
	for _, block := range shown {
		before, after := checkCommand(t, block)
		text = strings.Replace(text, indent(before), indent(after), 1)
	}
	if *update {
		write(t, page, text)
	}
}

// checkCommand runs a command, compares its output with what the page shows below it, and returns both.
func checkCommand(t *testing.T, block string) (page, printed string) {
	t.Helper()
	command, rest, _ := strings.Cut(block, "\n")
	command, file, redirected := strings.Cut(command, " >")
	var out, errs bytes.Buffer
	if code := run(append([]string{"podverdict"}, strings.Fields(command)...), strings.NewReader(""), &out, &errs); code > cli.ExitFindings {
		t.Errorf("%s: exit code %d: %s", command, code, errs.String())
	}
	if redirected {
		write(t, file, out.String())
		out.Reset()
	}
	page, printed = indented(rest), strings.TrimRight(trimLines(out.String()), "\n")
	if diff := cmp.Diff(page, printed); diff != "" && !*update {
		t.Errorf("%s: the page differs (-page +output):\n%s", command, diff)
	}
	return page, printed
}

// indent returns text as pages show it.
func indent(text string) string {
	return regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(text, "    $1")
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
