package custom_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
)

var update = flag.Bool("update", false, "write the findings of testdata/findings anew")

// TestFindings compiles the policies of testdata/findings. Each file contains one policy and all of
// its findings as they are printed.
func TestFindings(t *testing.T) {
	files, err := filepath.Glob("testdata/findings/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	env := newEnvironment(t)
	seen := map[string]bool{}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil || len(archive.Files) != 2 {
				t.Fatalf("%d sections, %v", len(archive.Files), err)
			}
			var spec v1alpha1.PodFailurePolicySpec
			if err := yaml.UnmarshalStrict(archive.Files[0].Data, &spec); err != nil {
				t.Fatal(err)
			}
			findings := findingsOf(t, env, &spec)
			got := ""
			for _, f := range findings {
				seen[f.Check] = true
				got += f.String() + "\n"
				checkPlace(t, f)
			}
			if *update {
				archive.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(archive.Files[1].Data), got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
	for _, check := range []string{
		custom.CheckLimit, custom.CheckSyntax, custom.CheckType, custom.CheckVariable, custom.CheckCycle, custom.CheckCost,
		custom.CheckConstruct, custom.CheckGuard, custom.CheckAbsent, custom.CheckNever, custom.CheckDeadPart, custom.CheckAlways,
		compiler.CheckUnreachable,
	} {
		if !seen[check] {
			t.Errorf("no file has a finding of %s", check)
		}
	}
}

// findingsOf returns all findings, regardless of whether the policy compiles.
func findingsOf(tb testing.TB, env *compiler.Environment, spec *v1alpha1.PodFailurePolicySpec) []compiler.Finding {
	tb.Helper()
	policy, err := custom.Compile(env, spec)
	var invalid *custom.Error
	switch {
	case err == nil:
		return policy.Warnings
	case errors.As(err, &invalid) && policy == nil:
		return invalid.Findings
	default:
		tb.Fatalf("got %v with %T: %v", policy, err, err)
		return nil
	}
}

// checkPlace checks that a finding refers to an existing place.
func checkPlace(tb testing.TB, f compiler.Finding) {
	tb.Helper()
	if f.Field == "" || f.Message == "" || f.Check == "" || f.Severity != compiler.Error && f.Severity != compiler.Warning {
		tb.Errorf("a finding without a part: %+v", f)
	}
	if strings.HasPrefix(f.Field, "spec.variables") && f.Rule != compiler.NoRule {
		tb.Errorf("a finding about %s is of rule %d", f.Field, f.Rule)
	}
	lines := strings.Split(f.Expression, "\n")
	if f.Line < 1 || f.Line > len(lines) || f.Column < 1 || f.Column > len([]rune(lines[f.Line-1]))+1 {
		tb.Errorf("%s:%d:%d is outside of %q", f.Field, f.Line, f.Column, f.Expression)
	}
}

// TestFunctionsOfLaterVersions checks that a function of the newest version is not reported as a
// misspelt name in an older one.
func TestFunctionsOfLaterVersions(t *testing.T) {
	env, err := compiler.NewEnvironment("1.28")
	if err != nil {
		t.Fatal(err)
	}
	for expression, want := range map[string]string{
		"sets.contains([1], [1])":                    "Kubernetes 1.29 and later have it",
		"isIP(pod.status.podIP)":                     "Kubernetes 1.30 and later have it",
		"{'a': 1}.transformMap(k, v, v).size() == 1": "Kubernetes 1.32 and later have it",
		"sets == 1":               "Kubernetes 1.29 and later have it",
		"isipp(pod.status.podIP)": "",
	} {
		findings := findingsOf(t, env, &v1alpha1.PodFailurePolicySpec{Rules: []v1alpha1.Rule{{Name: "r", Action: "Count", When: expression}}})
		hints := map[string]bool{}
		for _, f := range findings {
			hints[f.Hint] = true
		}
		if !hints[want] {
			t.Errorf("%s: the hints are %v, want %q", expression, hints, want)
		}
	}
}
