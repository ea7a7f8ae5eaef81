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
		"k8s.io/klog/v2/klog.go":          "no function loggingT.printS to leave out",
	} {
		_, err := pkg{ImportPath: path.Dir(file)}.slimmed("package p", path.Base(file))
		if err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("%s: error %v, want %q", file, err, missing)
		}
	}
}

// TestLeftOut: functions go with the imports that only they need, others lose what they do, and the rest stays.
func TestLeftOut(t *testing.T) {
	for _, test := range []struct {
		file, given string
		words       map[string]bool // whether each is there afterwards
	}{
		{
			file: "github.com/google/cel-go/cel/options.go",
			given: "package cel\n\nimport (\n\t\"fmt\"\n\tdescpb \"descriptorpb\"\n)\n\n" +
				"func TypeDescs() { fmt.Print(descpb.X) }\nfunc registerFileSet() {}\nfunc registerFiles() {}\nfunc kept() { fmt.Print(1) }\n",
			words: map[string]bool{"descpb": false, "TypeDescs": false, "registerFile": false, `"fmt"`: true, "kept": true},
		},
		{
			file: "k8s.io/klog/v2/klog.go",
			given: "package klog\n\nimport \"fmt\"\n\nfunc (l *loggingT) printS(x int) { fmt.Print(x) }\n" +
				"func (l *loggingT) output() (int, error) { return other() }\nfunc (l *other) printS() { kept() }\n",
			words: map[string]bool{`"fmt"`: false, "loggingT ) printS": true, "other ( )": false, `panic ( "left out of the page" )`: true, "kept": true},
		},
		{
			file:  "github.com/google/cel-go/cel/prompt.go",
			given: "package cel\n\nimport \"text/template\"\n\nvar x template.Template\n",
			words: map[string]bool{"template": false, "package cel": true},
		},
	} {
		got, err := pkg{ImportPath: path.Dir(test.file)}.slimmed(test.given, path.Base(test.file))
		if err != nil {
			t.Errorf("%s: %v", test.file, err)
		}
		for word, want := range test.words {
			if strings.Contains(string(got), word) != want {
				t.Errorf("%s: %q is there: %t, want %t\n%s", test.file, word, !want, want, got)
			}
		}
	}
}
