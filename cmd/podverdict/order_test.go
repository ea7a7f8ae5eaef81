package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/internal/testing/dataset"
)

// TestOrder checks that commands print the same for every order of Jobs and Pods and every input form.
func TestOrder(t *testing.T) {
	tries := 50
	if testing.Short() {
		tries = 5
	}
	var lines []string
	for _, r := range dataset.Generate(3, dataset.Options{Pods: 60, Plant: []string{"code", "disruption"}}).Records {
		var object any = r.Pod
		if r.Job != nil {
			object = r.Job
		}
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(text))
	}
	random := rand.New(rand.NewPCG(5, 6))
	want := map[string]string{}
	for try := range tries {
		random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		form := []string{"lines", "list", "yaml", "gzip"}[try%4]
		text := inForm(t, form, lines)
		for _, verb := range []string{"eval", "eval -o wide", "explain", "history", "report", "suggest"} {
			var stdout, stderr bytes.Buffer
			arguments := append([]string{"podverdict"}, strings.Fields(verb)...)
			arguments = append(arguments, "-f", "-")
			if verb != "history" {
				arguments = append(arguments, "--now", "2026-12-01T00:00:00Z")
			}
			if code := run(arguments, strings.NewReader(text), &stdout, &stderr); code != cli.ExitFine {
				t.Fatalf("%s: exit code %d: %s", verb, code, stderr.String())
			}
			got := stdout.String() + stderr.String()
			if verb == "history" {
				got = withoutTimes(got)
			}
			if want[verb] == "" {
				want[verb] = got
			}
			if diff := gocmp.Diff(want[verb], got); diff != "" {
				t.Errorf("%s of the %d. input, as %s, differs from that of the first (-first +this)\n%s", verb, try, form, diff)
			}
		}
	}
}

// inForm returns objects in one of the supported input forms.
func inForm(t *testing.T, form string, lines []string) string {
	t.Helper()
	switch form {
	case "list":
		return `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(lines, ",") + "]}"
	case "yaml":
		var documents []string
		for _, line := range lines {
			text, err := yaml.JSONToYAML([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			documents = append(documents, string(text))
		}
		return strings.Join(documents, "---\n")
	case "gzip":
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		fmt.Fprintln(w, strings.Join(lines, "\n"))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return packed.String()
	}
	return strings.Join(lines, "\n")
}

// withoutTimes removes the times at which history lines were written.
func withoutTimes(lines string) string {
	var out strings.Builder
	for line := range strings.Lines(lines) {
		before, rest, found := strings.Cut(line, `"time":"`)
		if found {
			_, rest, _ = strings.Cut(rest, `"`)
		}
		out.WriteString(before + rest)
	}
	return out.String()
}
