package suites_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/suites"
	"github.com/podverdict/podverdict/compiler"
)

const benchPolicy = `apiVersion: podverdict.io/v1alpha1
kind: PodFailurePolicy
metadata: {name: gpu}
spec:
  variables:
  - {name: oom, expression: "pod.failedContainers().exists(c, c.oomKilled)"}
  rules:
  - {name: gave-up, when: variables.oom && attempt > 3, action: FailJob}
  - name: out-of-memory
    when: variables.oom
    action: Count
    reason: OutOfMemory
    messageExpression: "'attempt ' + string(attempt)"
    budget: {limit: 3, then: FailJob}
`

// benchCases are four kinds of cases, used in turn.
var benchCases = []string{
	`- name: case %d, out of memory
  from: oom
  attempt: 2
  expect: {action: Count, rule: out-of-memory, reason: OutOfMemory}
`, `- name: case %d, gives up
  from: oom
  attempt: 4
  pod:
    metadata: {labels: {kind: training}}
  expect: {action: FailJob, rule: gave-up, counted: true}
`, `- name: case %d, another code
  exitCode: 2
  containers: {main: {reason: Error, message: failed}}
  expect: {matched: false}
`, `- name: case %d, a condition
  from: evicted
  pod:
    status:
      conditions:
      - {type: DisruptionTarget, status: "True", reason: DeletionByTaintManager}
      containerStatuses:
      - name: main
        state: {terminated: {exitCode: 137, reason: OOMKilled}}
  expect: {action: Count, rule: out-of-memory}
`,
}

// writeLarge writes a suite with many cases and its policy.
func writeLarge(tb testing.TB, cases int) string {
	tb.Helper()
	dir := tb.TempDir()
	var text bytes.Buffer
	text.WriteString(`apiVersion: podverdict.io/v1alpha1
kind: Suite
metadata: {name: large}
policies: [policy.yaml]
scenarios:
  oom: {from: oom-killed, pod: {metadata: {labels: {team: training}}}}
cases:
`)
	for i := range cases {
		fmt.Fprintf(&text, benchCases[i%len(benchCases)], i)
	}
	file := filepath.Join(dir, "large_test.yaml")
	for name, data := range map[string][]byte{file: text.Bytes(), filepath.Join(dir, "policy.yaml"): []byte(benchPolicy)} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return file
}

// BenchmarkSuite reads and runs a suite of 10,000 cases, and writes the report.
func BenchmarkSuite(b *testing.B) {
	const cases = 10_000
	file := writeLarge(b, cases)
	b.ReportAllocs()
	for b.Loop() {
		loader := suites.Loader{Kubernetes: compiler.DefaultVersion}
		s, err := loader.Read(b.Context(), file)
		if err != nil {
			b.Fatal(err)
		}
		r := s.Run(b.Context(), suites.Options{})
		if !r.OK || len(r.Cases) != cases {
			b.Fatalf("%d cases, %v", len(r.Cases), r.Err)
		}
		if err := (suites.Report{Results: []suites.Result{r}}).Write(io.Discard, "json"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*cases/b.Elapsed().Seconds(), "cases/s")
}
