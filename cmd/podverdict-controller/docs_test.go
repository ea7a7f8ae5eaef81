package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

	"github.com/podverdict/podverdict/controller/metrics"
)

var update = flag.Bool("update", false, "rewrite the tables in docs/controller.md")

const docs = "../../docs/controller.md"

// The documentation lists exactly the existing flags and metrics.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	for head, table := range map[string]string{
		"<!-- flags: go test ./cmd/podverdict-controller -update -->\n": flagTable(),
		"<!-- metrics -->\n": metricTable(t),
	} {
		before, rest, ok := strings.Cut(got, head)
		_, after, ended := strings.Cut(rest, "<!-- end -->\n")
		if !ok || !ended {
			t.Fatalf("%s has no %s", docs, head)
		}
		got = before + head + table + "<!-- end -->\n" + after
	}
	if *update {
		if err := os.WriteFile(docs, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(got, string(text)); diff != "" {
		t.Errorf("%s differs, rewrite it with -update (-want +got):\n%s", docs, diff)
	}
}

func flagTable() string {
	table := "| flag | default | means |\n|---|---|---|\n"
	newCommand(nil).Flags().VisitAll(func(f *pflag.Flag) {
		name := "--" + f.Name
		if f.Shorthand == f.Name {
			name = "-" + f.Name
		}
		value := ""
		if f.DefValue != "" {
			value = code(f.DefValue)
		}
		table += fmt.Sprintf("| %s | %s | %s |\n", code(name), value, f.Usage)
	})
	return table
}

func code(text string) string { return "`" + text + "`" }

// description matches the string form of a prometheus.Desc.
var description = regexp.MustCompile(`^Desc\{fqName: "(.*)", help: "(.*)", unit: "", constLabels: \{\}, variableLabels: \{(.*)\}\}$`)

func metricTable(t *testing.T) string {
	t.Helper()
	registry := prometheus.NewRegistry()
	if _, err := metrics.New(registry); err != nil {
		t.Fatal(err)
	}
	all := make(chan *prometheus.Desc)
	go func() {
		registry.Describe(all)
		close(all)
	}()
	rows := map[string]string{}
	for d := range all {
		parts := description.FindStringSubmatch(d.String())
		if parts == nil {
			t.Fatalf("a metric of no known form: %s", d)
		}
		labels := ""
		if parts[3] != "" {
			labels = code(strings.ReplaceAll(parts[3], ",", "`, `"))
		}
		rows[parts[1]] = fmt.Sprintf("| %s | %s | %s |\n", code(parts[1]), labels, parts[2])
	}
	if len(rows) < 10 {
		t.Fatalf("there are %d metrics", len(rows))
	}
	table := "| metric | labels | counts |\n|---|---|---|\n"
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		table += rows[name]
	}
	return table
}
