package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jstemmer/go-junit-report/v2/junit"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"sigs.k8s.io/yaml"
)

// manifestVerbs are the commands in the table of TestManifests, with the JSON fields shown in its cells.
var manifestVerbs = []struct {
	name  string
	cells []string // fields whose values are shown
}{
	{"eval", []string{"action"}},
	{"check", []string{"check"}},
	{"simulate", []string{"outcome"}},
}

// TestManifests runs commands on realistic files, one by one and all at once, and compares exit codes, verdicts, findings and
// messages with a table.
func TestManifests(t *testing.T) {
	skipWithRace(t)
	const folder, table = "testdata/manifests", "testdata/manifests.txt"
	var files []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 40 {
		t.Fatalf("%d files", len(files))
	}
	for _, below := range []string{"", "helm/chart", "kustomize", "kubectl", "kinds", "repository", "broken"} {
		files = append(files, filepath.Join(folder, below))
	}
	sections := make([]string, len(files))
	t.Run("files", func(t *testing.T) {
		for i, file := range files {
			if testing.Short() && !*update && i%3 != 0 {
				continue
			}
			t.Run(file, func(t *testing.T) {
				t.Parallel()
				sections[i] = tabulate(t, file, folder)
			})
		}
	})
	if *update {
		if err := os.WriteFile(table, []byte(strings.Join(sections, "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.SplitAfter(string(text), "\n\n")
	for i, section := range sections {
		if section == "" {
			continue
		}
		if i >= len(want) {
			t.Fatalf("%s is not in %s", files[i], table)
		}
		if diff := cmp.Diff(want[i], section); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

// tabulate runs the commands on a file or folder.
func tabulate(t *testing.T, file, folder string) string {
	t.Helper()
	var out strings.Builder
	fmt.Fprintln(&out, file)
	before := ""
	for _, verb := range manifestVerbs {
		var stdout, stderr bytes.Buffer
		code := run([]string{"podverdict", verb.name, "-R", "-f", file, "-o", "json"}, strings.NewReader(""), &stdout, &stderr)
		fmt.Fprintf(&out, "  %-9s %d", verb.name, code)
		var result any
		if err := json.Unmarshal(stdout.Bytes(), &result); err != nil && stdout.Len() > 0 {
			t.Errorf("%s: %v", verb.name, err)
		}
		for _, cell := range verb.cells {
			fmt.Fprint(&out, repeats(valuesOf(result, cell)))
		}
		fmt.Fprintln(&out)
		messages := strings.ReplaceAll(stderr.String(), folder+"/", "")
		if messages == before && messages != "" {
			messages = "as above\n"
		} else {
			before = messages
		}
		for line := range strings.Lines(messages) {
			if !strings.HasPrefix(line, " ") { // skip source excerpts
				fmt.Fprint(&out, "    ", line)
			}
		}
	}
	fmt.Fprintln(&out)
	return out.String()
}

// repeats formats values, with counts for consecutive equal values.
func repeats(values []any) string {
	var out strings.Builder
	for i := 0; i < len(values); {
		n := 1
		for i+n < len(values) && values[i+n] == values[i] {
			n++
		}
		fmt.Fprintf(&out, " %v", values[i])
		if n > 1 {
			fmt.Fprintf(&out, "*%d", n)
		}
		i += n
	}
	return out.String()
}

// valuesOf returns the values of a field anywhere in a value.
func valuesOf(value any, field string) []any {
	var found []any
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			found = append(found, valuesOf(item, field)...)
		}
	case map[string]any:
		if held, ok := v[field]; ok {
			found = append(found, held)
		}
		for _, name := range []string{"items", "findings", "verdict"} {
			found = append(found, valuesOf(v[name], field)...)
		}
	}
	return found
}

// TestManifestsInEveryFormat checks that a report on these files is valid in each format.
func TestManifestsInEveryFormat(t *testing.T) {
	skipWithRace(t)
	results := regexp.MustCompile(`(?m)^(not )?ok \d+ `)
	valid := map[string]func(text string) error{
		"json": func(text string) error { return json.Unmarshal([]byte(text), new(any)) },
		"yaml": func(text string) error { return yaml.UnmarshalStrict([]byte(text), new(any)) },
		"sarif": func(text string) error {
			report, err := sarif.FromString(text, sarif.WithStrictValidation())
			if err != nil {
				return err
			}
			return report.Validate()
		},
		"junit": func(text string) error {
			var suites junit.Testsuites
			if err := xml.Unmarshal([]byte(text), &suites); err != nil || suites.Tests > 0 && suites.Failures > 0 {
				return err
			}
			return fmt.Errorf("%d of %d tests fail", suites.Failures, suites.Tests)
		},
		"github": func(text string) error {
			for line := range strings.Lines(text) {
				if !strings.HasPrefix(line, "::error ") && !strings.HasPrefix(line, "::warning ") {
					return fmt.Errorf("no command: %s", line)
				}
			}
			return nil
		},
		"tap": func(text string) error {
			if plan := fmt.Sprintf("\n1..%d\n", len(results.FindAllString(text, -1))); !strings.Contains(text, plan) {
				return fmt.Errorf("no plan %q", plan)
			}
			return nil
		},
	}
	for format, check := range valid {
		var stdout bytes.Buffer
		run([]string{"podverdict", "check", "testdata/manifests", "-o", format}, strings.NewReader(""), &stdout, io.Discard)
		if err := check(stdout.String()); err != nil {
			t.Errorf("-o %s: %v", format, err)
		}
	}
}
