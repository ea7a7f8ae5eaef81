package compiler

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden is a golden file, which shows the result of every stage for one policy. Its input is
// policy.yaml, a podFailurePolicy, or job.yaml, a Job, which is also linted. The file begins with a
// sentence that states its purpose, and optional headers:
//
//	#kubernetes: 1.28   the version to compile for
//	#read: stored       read it as the Job controller does (StoredPolicy), not as
//	                    the API server does (NewPolicy)
type golden struct {
	sentence   string
	kubernetes string
	stored     bool
	comment    []byte
	input      txtar.File
	policy     *batchv1.PodFailurePolicy
	job        *batchv1.Job
}

// goldenSections lists the sections of a golden file in order, after the input. Only Jobs have the
// section lint.
var goldenSections = []string{"errors", "match", "cel", "cost", "lint"}

func TestGolden(t *testing.T) {
	for _, path := range goldenFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			g, err := parseGolden(text)
			if err != nil {
				t.Fatal(err)
			}
			want := txtar.Format(g.output(t))
			if *update {
				if err := os.WriteFile(path, want, 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(text), string(want)); diff != "" {
				t.Errorf("-update accepts this (-%s +now):\n%s", path, diff)
			}
		})
	}
}

func goldenFiles(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/golden/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatal("no golden files")
	}
	return paths
}

// goldenInputs returns the golden files by name, for tests that need policies.
func goldenInputs(t testing.TB) map[string]*golden {
	t.Helper()
	inputs := map[string]*golden{}
	for _, path := range goldenFiles(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if inputs[filepath.Base(path)], err = parseGolden(text); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	return inputs
}

func parseGolden(text []byte) (*golden, error) {
	archive := txtar.Parse(text)
	g := &golden{comment: archive.Comment, kubernetes: DefaultVersion}
	for line := range strings.Lines(string(archive.Comment)) {
		if err := g.header(strings.TrimSuffix(line, "\n")); err != nil {
			return nil, err
		}
	}
	if g.sentence == "" {
		return nil, errors.New("no sentence says what the file is there for")
	}
	for i, f := range archive.Files {
		if i == 0 {
			g.input = f
		} else if !slices.Contains(goldenSections, f.Name) {
			return nil, fmt.Errorf("unknown section %q", f.Name)
		}
	}
	if err := g.parseInput(); err != nil {
		return nil, err
	}
	return g, nil
}

func (g *golden) header(line string) error {
	name, value, found := strings.Cut(line, ": ")
	switch {
	case !strings.HasPrefix(line, "#"):
		g.sentence += line
	case found && name == "#kubernetes":
		g.kubernetes = value
	case found && name == "#read" && value == "stored":
		g.stored = true
	default:
		return fmt.Errorf("unknown header %q", line)
	}
	return nil
}

func (g *golden) parseInput() error {
	switch g.input.Name {
	case "policy.yaml":
		return yaml.UnmarshalStrict(g.input.Data, &g.policy)
	case "job.yaml":
		if err := yaml.UnmarshalStrict(g.input.Data, &g.job); err != nil {
			return err
		}
		g.policy = g.job.Spec.PodFailurePolicy
		return nil
	default:
		return fmt.Errorf("the first section is %q, not policy.yaml or job.yaml", g.input.Name)
	}
}

// output returns the expected contents of the whole file.
func (g *golden) output(t testing.TB) *txtar.Archive {
	t.Helper()
	sections := map[string]*bytes.Buffer{}
	for _, name := range goldenSections {
		sections[name] = &bytes.Buffer{}
	}
	if policy := g.read(t, sections["errors"]); policy != nil {
		compiled, err := newEnvironment(t, g.kubernetes).Compile(policy)
		if err != nil {
			t.Fatal(err)
		}
		writeStages(t, sections, compiled)
	}
	out := &txtar.Archive{Comment: g.comment, Files: []txtar.File{g.input}}
	if g.job != nil {
		for _, f := range Lint(g.job, version.MustParseGeneric(g.kubernetes)) {
			fmt.Fprintf(sections["lint"], "%v\n  hint: %s\n", f, f.Hint)
		}
	} else {
		delete(sections, "lint")
	}
	for _, name := range goldenSections {
		if section, ok := sections[name]; ok {
			out.Files = append(out.Files, txtar.File{Name: name, Data: section.Bytes()})
		}
	}
	return out
}

// read parses the policy and writes one line for each of NewPolicy's errors.
func (g *golden) read(t testing.TB, refused *bytes.Buffer) *Policy {
	t.Helper()
	if g.stored {
		return StoredPolicy(g.policy)
	}
	policy, err := NewPolicy(g.policy)
	if refusal := (*PolicyError)(nil); errors.As(err, &refusal) {
		for _, e := range refusal.Errors {
			fmt.Fprintln(refused, e)
		}
		return nil
	} else if err != nil {
		t.Fatalf("%T is no *PolicyError: %v", err, err)
	}
	return policy
}

func writeStages(t testing.TB, sections map[string]*bytes.Buffer, c *Compiled) {
	t.Helper()
	for i, rule := range c.Rules {
		text, err := rule.Source()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(sections["match"], "%d: %s %s\n", i, rule.Action, describe(rule.Match))
		fmt.Fprintf(sections["cel"], "%d: %s\n", i, text)
		fmt.Fprintf(sections["cost"], "%d: at most %d of %d\n", i, rule.Cost, CostLimit)
	}
	var total uint64
	for _, rule := range c.Rules {
		total += rule.Cost
	}
	fmt.Fprintf(sections["cost"], "all: at most %d\n", total)
}

// describe returns a match as a Go value, without packages and pointers.
func describe(m Match) string {
	switch m := m.(type) {
	case ExitCodes:
		container := "nil"
		if m.Container != nil {
			container = strconv.Quote(*m.Container)
		}
		return fmt.Sprintf("ExitCodes{Container: %s, Operator: %s, Values: %v}", container, m.Operator, m.Values)
	case PodConditions:
		return fmt.Sprintf("PodConditions%+q", m.Patterns)
	default:
		return "Never{}"
	}
}
