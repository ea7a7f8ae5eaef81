package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// slimmed returns the text of a Go file with its edits, without methods of protobuf, and without the imports that only they need.
func slimmed(text, file string) ([]byte, error) {
	edited, err := edit(text, file)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, edited, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	cut := cutter{text: edited, set: set}
	generated := path.Base(file) == "generated.pb.go"
	for _, d := range tree.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Recv != nil && (protobuf[f.Name.Name] || generated && f.Name.Name == "String") {
			cut.remove(f)
		}
	}
	if tree, err = parser.ParseFile(set, file, cut.result(), parser.ParseComments); err != nil {
		return nil, err
	}
	removeUnusedImports(tree)
	var out bytes.Buffer
	err = format.Node(&out, set, tree)
	return out.Bytes(), err
}

// edit returns the text of a file with its edits.
func edit(text, file string) (string, error) {
	for pair := range slices.Chunk(edits[file], 2) {
		if !strings.Contains(text, pair[0]) {
			return "", fmt.Errorf("%s: there is no %q to replace", file, pair[0])
		}
		text = strings.Replace(text, pair[0], pair[1], 1)
	}
	return text, nil
}

// cutter removes declarations, in the order of the text.
type cutter struct {
	text string
	set  *token.FileSet
	kept strings.Builder
	done int
}

func (c *cutter) remove(f *ast.FuncDecl) {
	start := f.Pos()
	if f.Doc != nil {
		start = f.Doc.Pos()
	}
	c.kept.WriteString(c.text[c.done:c.set.Position(start).Offset])
	c.done = c.set.Position(f.End()).Offset
}

func (c *cutter) result() string { return c.kept.String() + c.text[c.done:] }

// removeUnusedImports leaves imports for their effects, and those whose name is selected from.
func removeUnusedImports(tree *ast.File) {
	used := map[string]bool{}
	ast.Inspect(tree, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if name, ok := s.X.(*ast.Ident); ok {
				used[name.Name] = true
			}
		}
		return true
	})
	for _, d := range tree.Decls {
		imports, ok := d.(*ast.GenDecl)
		if !ok || imports.Tok != token.IMPORT {
			continue
		}
		imports.Specs = slices.DeleteFunc(imports.Specs, func(s ast.Spec) bool {
			name := importName(s.(*ast.ImportSpec)) //nolint:forcetypeassert // what an import declaration has
			return name != "_" && name != "" && !used[name]
		})
	}
	tree.Decls = slices.DeleteFunc(tree.Decls, func(d ast.Decl) bool {
		imports, ok := d.(*ast.GenDecl)
		return ok && imports.Tok == token.IMPORT && len(imports.Specs) == 0
	})
}

// importName returns the name of an import in its file, or "" when the path does not show it.
func importName(s *ast.ImportSpec) string {
	if s.Name != nil {
		return s.Name.Name
	}
	imported, err := strconv.Unquote(s.Path.Value)
	name := path.Base(imported)
	if err != nil || !token.IsIdentifier(name) || strings.HasPrefix(name, "v") && len(name) < 4 {
		return ""
	}
	return name
}
