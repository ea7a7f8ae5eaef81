package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestOnlyFlagsKnowCobra checks that only package cli and functions that define a command or its flags use cobra. Functions that do a
// command's work can be called without cobra.
func TestOnlyFlagsKnowCobra(t *testing.T) {
	allowed := []string{"addCheckFlags", "addRulesFlag", "AddFlags", "AddSourceFlags", "Serve"}
	var files []string
	for _, pattern := range []string{"*.go", "internal/*/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	seen := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || filepath.Dir(name) == "internal/cli" {
			continue
		}
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range file.Decls {
			function, ok := declared.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if strings.HasPrefix(strings.ToLower(function.Name.Name), "new") || slices.Contains(allowed, function.Name.Name) {
				seen++
				continue
			}
			ast.Inspect(function, func(node ast.Node) bool {
				if used, ok := node.(*ast.SelectorExpr); ok {
					if from, ok := used.X.(*ast.Ident); ok && from.Name == "cobra" {
						t.Errorf("%s: %s uses cobra.%s", positions.Position(used.Pos()), function.Name.Name, used.Sel.Name)
					}
				}
				return true
			})
		}
	}
	if seen < 20 {
		t.Errorf("%d functions make verbs: are these the sources?", seen)
	}
}

// TestHelpFitsTerminals checks that help fits into 80 columns, except for usage lines and examples, which are meant to be copied.
func TestHelpFitsTerminals(t *testing.T) {
	for _, verb := range runnable(newRoot(newProgram("podverdict"))) {
		var out bytes.Buffer
		verb.SetOut(&out)
		if err := verb.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			isCommand := strings.HasPrefix(line, "  ") && strings.Contains(line, "podverdict ") && strings.Contains(verb.Example+verb.UseLine(), strings.TrimSpace(line))
			if !isCommand && utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 {
				t.Errorf("%s: %s", verb.CommandPath(), line)
			}
		}
	}
}
