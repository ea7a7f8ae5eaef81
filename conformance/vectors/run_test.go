package vectors

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/reports"
	"github.com/podverdict/podverdict/runtime"
)

// TestRunOfAVersion checks that expected failures may name any vector, whichever vectors are
// selected.
func TestRunOfAVersion(t *testing.T) {
	old := three(t)[1]
	old.Kubernetes, old.Name = "1.28", "conditions/true-in-128"
	all := append(three(t), old)
	for kubernetes, want := range map[string]int{"": 4, "1.37": 3, "1.28": 1} {
		report, err := Run(t.Context(), conformance.Go, all, Options{Kubernetes: kubernetes})
		if err != nil || len(report.Results) != want {
			t.Errorf("version %q: %d results, %v; want %d", kubernetes, len(report.Results), err, want)
		}
	}
	report, err := Run(t.Context(), conformance.Go, all, Options{Kubernetes: "1.37", ExpectedFailures: []string{old.Name}})
	if err != nil || !report.OK() {
		t.Errorf("an expected failure of another version: %v", err)
	}
	if _, err := Run(t.Context(), conformance.Go, all, Options{Kubernetes: "1.35"}); !errors.Is(err, ErrNoneSelected) {
		t.Errorf("a version without vectors: %v", err)
	}
}

// three returns a small suite: one vector on exit codes and two on conditions.
func three(t *testing.T) []Vector {
	t.Helper()
	var some []Vector
	for _, v := range vectors(t) {
		switch v.Name {
		case "exitcodes-in/listed-code", "conditions/true", "conditions/absent":
			some = append(some, v)
		}
	}
	return some
}

// wrong returns verdicts that no vector expects, and no verdict for conditions/true.
func wrong(_ context.Context, r conformance.Request) (runtime.Verdict, error) {
	switch {
	case r.Policy.Rules[0].Action == "Ignore":
		return runtime.Verdict{}, errors.New("no idea\nat all \x00")
	case r.Policy.Rules[0].OnExitCodes != nil:
		v := runtime.MatchedExitCode(r.Pod, 1, "Count", &r.Pod.Status.ContainerStatuses[0])
		v.Err = errors.New("late")
		return v, nil
	default:
		return *(*runtime.Verdict)(nil), nil
	}
}

func TestReport(t *testing.T) {
	report, err := Run(t.Context(), wrong, three(t), Options{Engine: "wrong"})
	if err != nil || report.OK() {
		t.Fatalf("%v, ok %v", err, report.OK())
	}
	got := write(t, report.WriteTable)
	want := `ERROR: conditions/absent
    A pod without conditions does not match.
    panic: runtime error: invalid memory address or nil pointer dereference

ERROR: conditions/true
    A pod that has the condition with status True matches.
    no idea
    at all \x00

FAILED: exitcodes-in/listed-code
    A container that exits with a listed code fails the Job.
    See https://github.com/podverdict/podverdict/blob/main/conformance/SEMANTICS.md#a2
    action:
      got  "Count"
      want "FailJob"
    rule:
      got  1
      want 0
    message:
      got  "Container main for pod default/p failed with exit code 42 matching Count rule at index 1"
      want "Container main for pod default/p failed with exit code 42 matching FailJob rule at index 0"
    error:
      got  "late"
      want (absent)

TOPIC          PASSED   OTHER   NOT SUPPORTED
conditions     0        2       0
exitcodes-in   0        1       0

wrong: 0 passed, 1 failed, 2 error
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func write(t *testing.T, report func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := report(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReportJSON(t *testing.T) {
	report, err := Run(t.Context(), wrong, three(t), Options{Engine: "wrong", Features: []Feature{FeatureOnExitCodes, FeatureIn, FeatureFailJob}})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Kind    string
		OK      bool
		Counts  map[reports.Outcome]int
		Results []struct{ Name, Detail string }
	}
	if err := json.Unmarshal([]byte(write(t, report.WriteJSON)), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[reports.Outcome]int{reports.Failed: 1, reports.NotSupported: 2}, got.Counts); diff != "" || got.OK || got.Kind != "ConformanceReport" {
		t.Errorf("%+v\n%s", got, diff)
	}
	if r := got.Results[0]; r.Name != "conditions/absent" || r.Detail != "needs OnPodConditions" {
		t.Errorf("%+v", r)
	}
}

func TestReportJUnit(t *testing.T) {
	report, err := Run(t.Context(), wrong, three(t), Options{Engine: "wrong", Select: regexp.MustCompile("true|listed")})
	if err != nil {
		t.Fatal(err)
	}
	var got junit.Testsuites
	if err := xml.Unmarshal([]byte(write(t, report.WriteJUnit)), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tests != 2 || got.Errors != 1 || got.Failures != 1 || len(got.Suites) != 2 {
		t.Errorf("%+v", got)
	}
	if c := got.Suites[0].Testcases[0]; c.Name != "true" || c.Error == nil || c.Error.Data != "no idea\nat all \uFFFD" {
		t.Errorf("%+v", c)
	}
}

func TestExpectedFailures(t *testing.T) {
	o := Options{ExpectedFailures: []string{"conditions/true", "conditions/absent", "exitcodes-in/listed-code"}}
	report, err := Run(t.Context(), wrong, three(t), o)
	if err != nil || !report.OK() || report.Count(reports.Expected) != 3 {
		t.Errorf("expected failures: %v, %s", err, report.Summary())
	}
	report, err = Run(t.Context(), conformance.Go, three(t), o)
	if err != nil || report.OK() || report.Count(reports.Unexpected) != 3 {
		t.Errorf("unexpected passes: %v, %s", err, report.Summary())
	}
	if _, err = Run(t.Context(), conformance.Go, three(t), Options{ExpectedFailures: []string{"conditions/treu"}}); err == nil {
		t.Error("an expected failure that is no vector is accepted")
	}
}

func TestNothingSelected(t *testing.T) {
	for name, o := range map[string]Options{
		"by name":     {Select: regexp.MustCompile("nothing")},
		"by features": {Features: []Feature{FeaturePhase}},
	} {
		if _, err := Run(t.Context(), conformance.Go, three(t), o); !errors.Is(err, ErrNoneSelected) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Run(t.Context(), conformance.Go, nil, Options{}); !errors.Is(err, ErrNoneSelected) {
		t.Errorf("no vectors: %v", err)
	}
}

func TestRunStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stop := func(ctx context.Context, r conformance.Request) (runtime.Verdict, error) {
		cancel()
		return conformance.Go(ctx, r)
	}
	report, err := Run(ctx, stop, vectors(t), Options{})
	if !errors.Is(err, context.Canceled) || len(report.Results) != 1 {
		t.Errorf("%v after %d vectors", err, len(report.Results))
	}
}

func TestEnginesCannotSpoilVectors(t *testing.T) {
	all := vectors(t)
	spoil := func(_ context.Context, r conformance.Request) (runtime.Verdict, error) {
		r.Pod.Name = "spoiled"
		if r.Policy != nil {
			r.Policy.Rules = nil
		}
		return runtime.Verdict{}, nil
	}
	if _, err := Run(t.Context(), spoil, all, Options{}); err != nil {
		t.Fatal(err)
	}
	if report, err := Run(t.Context(), conformance.Go, all, Options{}); err != nil || !report.OK() {
		t.Errorf("%v, %s", err, report.Summary())
	}
}
