package policies_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/format"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"

	"github.com/podverdict/podverdict/policies"
)

const testSuffix = "_test.rego"

func TestRego(t *testing.T) {
	var coverage *cover.Cover // coverage is more than half of the run time
	if !testing.Short() {
		coverage = cover.New()
	}
	results := runTests(t, coverage)
	for _, r := range results {
		if !r.Pass() {
			t.Errorf("%s: %s.%s failed: %v %s", r.Location, r.Package, r.Name, r.Error, r.Output)
		}
	}
	// A run without tests passes, so require a minimum.
	if len(results) < 300 {
		t.Errorf("only %d tests", len(results))
	}
	if coverage == nil {
		return
	}
	for file, report := range coverage.Report(modules(t, isRule)).Files {
		for _, uncovered := range report.NotCovered {
			t.Errorf("%s:%d is not covered by a test", file, uncovered.Start.Row)
		}
	}
}

func TestRegoIsStrict(t *testing.T) {
	compiler := ast.NewCompiler().WithStrict(true)
	if compiler.Compile(modules(t, isAny)); compiler.Failed() {
		t.Error(compiler.Errors)
	}
}

func TestRegoIsFormatted(t *testing.T) {
	for file, text := range sources(t, isAny) {
		formatted, err := format.Source(file, text)
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(formatted, text) {
			t.Errorf("%s is not formatted; run opa fmt -w policies", file)
		}
	}
}

// A missing root hides a package from opa eval -b, and a root wider than a package claims data.podverdict.config,
// which belongs to the user.
func TestManifestClaimsThePackages(t *testing.T) {
	text, err := fs.ReadFile(policies.FS, ".manifest")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Roots       []string `json:"roots"`
		RegoVersion int      `json:"rego_version"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.RegoVersion != 1 {
		t.Errorf("rego_version %d, want 1", manifest.RegoVersion)
	}
	packages := map[string]bool{}
	for _, m := range modules(t, isAny) {
		path := strings.TrimPrefix(m.Package.Path.String(), "data.")
		packages[strings.ReplaceAll(path, ".", "/")] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(packages)), manifest.Roots); diff != "" {
		t.Errorf("roots (-packages +manifest):\n%s", diff)
	}
}

// ids returns the ids of the bundle's constraints on the Job API and on a Job's status.
func ids() []string {
	var all []string
	for prefix, last := range map[string]int{
		"P": 8, "B": 9, "CM": 3, "M": 5, "F": 21, "R": 2, "S": 9, "U": 9, "ST": 31, "SN": 12,
	} {
		for n := range last {
			all = append(all, prefix+strconv.Itoa(n+1))
		}
	}
	return all
}

func TestEveryConstraintIsDescribed(t *testing.T) {
	described := map[string]bool{}
	for file, m := range modules(t, isConstraint) {
		for _, r := range m.Rules {
			if name := r.Head.Ref()[0].String(); !slices.Contains([]string{"findings", "warnings", "unenforced"}, name) {
				continue
			}
			id := describedID(r)
			if id == "" {
				t.Errorf("%s:%d: METADATA lacks title, id, kep, field or severity", file, r.Location.Row)
			} else if !strings.Contains(r.String(), `"`+id+`"`) {
				t.Errorf("%s:%d: METADATA has id %s, the rule another", file, r.Location.Row, id)
			}
			described[id] = true
		}
	}
	for _, id := range ids() {
		if !described[id] {
			t.Errorf("no rule for %s", id)
		}
		delete(described, id)
	}
	if len(described) != 0 {
		t.Errorf("rules with unknown ids: %v", slices.Sorted(maps.Keys(described)))
	}
}

// describedID returns the id in a rule's METADATA, or "" if the METADATA is incomplete.
func describedID(r *ast.Rule) string {
	for _, a := range r.Annotations {
		if a.Scope != "rule" || a.Title == "" {
			continue
		}
		id, _ := a.Custom["id"].(string)
		kep, _ := a.Custom["kep"].(string)
		field, _ := a.Custom["field"].(string)
		severity, _ := a.Custom["severity"].(string)
		if kep != "" && field != "" && (severity == "error" || severity == "warning") {
			return id
		}
	}
	return ""
}

func TestEveryConstraintIsShownToFireAndNot(t *testing.T) {
	shown := map[string]bool{}
	name := regexp.MustCompile(`^test_([A-Z]+[0-9]+)_(fires|silent)_`)
	for _, m := range modules(t, isTest) {
		for _, r := range m.Rules {
			if match := name.FindStringSubmatch(r.Head.Ref()[0].String()); match != nil {
				shown[match[1]+" "+match[2]] = true
			}
		}
	}
	for _, id := range ids() {
		for _, what := range []string{"fires", "silent"} {
			if !shown[id+" "+what] {
				t.Errorf("no test_%s_%s_...", id, what)
			}
		}
	}
}

func runTests(t *testing.T, coverage *cover.Cover) []*tester.Result {
	t.Helper()
	store := inmem.New()
	var results []*tester.Result
	err := storage.Txn(t.Context(), store, storage.TransactionParams{}, func(txn storage.Transaction) error {
		// Without SetModules the runner finds no tests and returns no error.
		runner := tester.NewRunner().SetStore(store).SetModules(modules(t, isAny)).SetTimeout(time.Minute)
		if coverage != nil {
			runner.SetCoverageQueryTracer(coverage)
		}
		found, err := runner.RunTests(t.Context(), txn)
		if err != nil {
			return err
		}
		for r := range found {
			results = append(results, r)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func isAny(string) bool { return true }

func isTest(file string) bool { return strings.HasSuffix(file, testSuffix) }

func isRule(file string) bool { return !isTest(file) }

func isConstraint(file string) bool { return isRule(file) && strings.HasPrefix(file, "job") }

// modules parses the files of the bundle for which want is true.
func modules(t *testing.T, want func(string) bool) map[string]*ast.Module {
	t.Helper()
	parsed := map[string]*ast.Module{}
	for file, text := range sources(t, want) {
		m, err := ast.ParseModuleWithOpts(file, string(text), ast.ParserOptions{ProcessAnnotation: true})
		if err != nil {
			t.Fatal(err)
		}
		parsed[file] = m
	}
	return parsed
}

func sources(t *testing.T, want func(string) bool) map[string][]byte {
	t.Helper()
	files, err := fs.Glob(policies.FS, "*/*.rego")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{}
	for _, file := range files {
		if !want(file) {
			continue
		}
		if texts[file], err = fs.ReadFile(policies.FS, file); err != nil {
			t.Fatal(err)
		}
	}
	if len(texts) == 0 {
		t.Fatal("no files")
	}
	return texts
}
