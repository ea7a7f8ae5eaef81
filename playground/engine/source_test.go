package main

import (
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const text = `// Package p has a comment.
package p

import _ "unsafe"

//go:linkname now runtime.now
func now() int64 // no body

/* a comment
of lines */
type t struct {
	name string ` + "`json:\"name\"`" + `
}

//go:noinline
func f(a, b int) string {
	if a > // the rest comes later
		b {
		return "\u00e9//go:x"
	}
	//go:nosplit
	return ` + "`two\n\tlines\\n\"`" + `
}
`

// TestOneLine: the program stays the same, with its directives, and all that is in it is at one place.
func TestOneLine(t *testing.T) {
	got := oneLine([]byte(text))
	if diff := cmp.Diff(tokens(t, []byte(text)), tokens(t, got)); diff != "" {
		t.Errorf("(-given +one line)\n%s", diff)
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "p.go", got, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		for _, at := range []token.Pos{d.Pos(), d.End()} {
			if p := set.Position(at); p.Filename != "/go" || p.Line != 1 {
				t.Errorf("a declaration is at %s", p)
			}
		}
	}
	for _, directive := range []string{"\n//go:linkname now runtime.now\n", "\n//go:noinline\n", "\n//go:nosplit\n"} {
		if !strings.Contains(string(got), directive) {
			t.Errorf("there is no %q in\n%s", directive, got)
		}
	}
}

// tokens returns those of a text that a compiler sees, strings by their values.
func tokens(t *testing.T, text []byte) []string {
	t.Helper()
	var all []string
	var scan scanner.Scanner
	scan.Init(token.NewFileSet().AddFile("", -1, len(text)), text, func(at token.Position, msg string) { t.Errorf("%s: %s", at, msg) }, 0)
	for {
		_, tok, literal := scan.Scan()
		if tok == token.EOF {
			return all
		}
		if tok == token.SEMICOLON {
			literal = ""
		}
		if tok == token.STRING {
			value, err := strconv.Unquote(literal)
			if err != nil {
				t.Fatal(err)
			}
			literal = value
		}
		all = append(all, tok.String()+" "+literal)
	}
}

// TestEditsAreFound: an upgrade that changes what is edited or left out fails the build.
func TestEditsAreFound(t *testing.T) {
	const options = "github.com/google/cel-go/cel/options.go"
	for file, missing := range map[string]string{
		"k8s.io/api/batch/v1/register.go": "no \"runtime.NewSchemeBuilder(addKnownTypes)\" to replace",
		options:                           "no function TypeDescs to leave out",
	} {
		_, err := pkg{ImportPath: path.Dir(file)}.slimmed("package p", path.Base(file))
		if err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("%s: error %v, want %q", file, err, missing)
		}
	}
}

// TestLeftOut: functions go with the imports that only they need, and others stay.
func TestLeftOut(t *testing.T) {
	given := "package cel\n\nimport (\n\t\"fmt\"\n\tdescpb \"descriptorpb\"\n)\n\n" +
		"func TypeDescs() { fmt.Print(descpb.X) }\nfunc registerFileSet() {}\nfunc registerFiles() {}\nfunc kept() { fmt.Print(1) }\n"
	got, err := pkg{ImportPath: "github.com/google/cel-go/cel"}.slimmed(given, "options.go")
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]bool{"descpb": false, "TypeDescs": false, "registerFile": false, `"fmt"`: true, "kept": true} {
		if strings.Contains(string(got), word) != want {
			t.Errorf("%q is there: %t, want %t\n%s", word, !want, want, got)
		}
	}
}
