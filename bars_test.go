package podverdict_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict"
	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/conformance/protocol"
	"github.com/podverdict/podverdict/conformance/vectors"
)

// source returns the lines of a function's body in a file of examples, without the expected output, and the packages
// that the body uses.
func source(t *testing.T, file, function string) (lines, packages []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	imported := map[string]bool{}
	for _, i := range parsed.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		name := path[strings.LastIndex(path, "/")+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		imported[name] = strings.Contains(path, ".") // not of the standard library
	}
	used := map[string]bool{}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != function {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && imported[x.Name] {
					used[x.Name] = true
				}
			}
			return true
		})
		body := string(text[files.Position(f.Body.Lbrace).Offset+1 : files.Position(f.Body.Rbrace).Offset])
		body, _, _ = strings.Cut(body, "\t// Output:")
		lines = strings.Split(strings.Trim(body, "\n"), "\n")
	}
	if len(lines) == 0 {
		t.Fatalf("%s has no function %s", file, function)
	}
	return lines, slices.Sorted(maps.Keys(used))
}

// An example with one Pod, one Job and one custom rule needs 12 lines, including the rule and the answer, and two
// packages outside the standard library. Running all vectors needs 10 lines and one package.
func TestShort(t *testing.T) {
	for _, c := range []struct {
		file, function string
		lines          int
		packages       []string
	}{
		{"example_test.go", "ExampleEngine_Judge", 12, []string{"podverdict", "v1alpha1"}},
		{"conformance/vectors/example_test.go", "ExampleRun", 10, []string{"vectors"}},
	} {
		if lines, packages := source(t, c.file, c.function); len(lines) > c.lines || !slices.Equal(packages, c.packages) {
			t.Errorf("%d lines that name %v:\n%s", len(lines), packages, strings.Join(lines, "\n"))
		}
	}
}

// The engine in another language shown in docs/embedding.md has at most ten lines, and passes the vectors for the
// cases that it implements.
func TestPageShowsAnEngine(t *testing.T) {
	page, err := os.ReadFile("docs/embedding.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(page), "```python\n")
	program, _, _ = strings.Cut(program, "```")
	if n := strings.Count(program, "\n"); n == 0 || n > 10 {
		t.Errorf("%d lines:\n%s", n, program)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	process, err := protocol.Exec(t.Context(), []string{"python3", "-c", program}, 0)
	if err != nil {
		t.Fatal(err)
	}
	all, err := vectors.Verdicts()
	if err != nil {
		t.Fatal(err)
	}
	report, err := vectors.Run(t.Context(), process.Verdict, all, vectors.Options{Select: regexp.MustCompile("^terminal/(pending|unknown)|no-match")})
	if err := errors.Join(err, process.Close()); err != nil || !report.OK() {
		t.Errorf("%v: %+v", err, report)
	}
}

// docs/embedding.md shows the code of the examples, which the tests run.
func TestPageShowsTheExamples(t *testing.T) {
	page, err := os.ReadFile("docs/embedding.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := string(page)
	for function, file := range map[string]string{
		"ExampleEngine_Judge": "example_test.go", "Example_jobController": "example_embedding_test.go", "Example_webhook": "example_embedding_test.go",
		"Example_batchSystem": "example_embedding_test.go", "ExampleRun": "conformance/vectors/example_test.go", "mine": "conformance/vectors/example_test.go",
	} {
		lines, _ := source(t, file, function)
		for i, line := range lines {
			lines[i] = strings.TrimPrefix(line, "\t")
		}
		if text := strings.Join(lines, "\n"); !strings.Contains(shown, text+"\n") {
			t.Errorf("docs/embedding.md lacks the code of %s:\n%s", function, text)
		}
	}
}

// Every exported function, method and type is shown in an example.
func TestEveryNameIsShown(t *testing.T) {
	shown := ""
	for _, file := range []string{"example_test.go", "example_embedding_test.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		shown += string(text)
	}
	names := 0
	for _, file := range []string{"engine.go", "judge.go"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			name, call := "", "podverdict."
			switch n := n.(type) {
			case *ast.TypeSpec:
				name = n.Name.Name
			case *ast.FuncDecl:
				if name = n.Name.Name; n.Recv != nil {
					call = "engine."
				}
			}
			if ast.IsExported(name) {
				names++
				if !regexp.MustCompile(`\b`+call+name+`\b`).MatchString(shown) && name != "Engine" {
					t.Errorf("no example shows %s%s", call, name)
				}
			}
			return true
		})
	}
	if names < 9 {
		t.Errorf("there are %d names", names)
	}
}

func TestJudgeAllocatesNothing(t *testing.T) {
	limited := job.DeepCopy()
	limited.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:      batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: "In", Values: []int32{42, 137}},
	}}}
	for name, policies := range map[string][]*v1alpha1.PodFailurePolicy{"podFailurePolicy": nil, "custom": {oom}} {
		engine, err := podverdict.New(policies...)
		if err != nil {
			t.Fatal(err)
		}
		for _, enforced := range []bool{true, false} {
			allocated := testing.AllocsPerRun(100, func() {
				if v, err := engine.Judge(t.Context(), limited, pod, podverdict.Enforced(enforced)); err != nil || !v.Matched {
					t.Error(v, err)
				}
			})
			if allocated > 0 {
				t.Errorf("%s, enforced %t: %v allocations", name, enforced, allocated)
			}
		}
	}
}
