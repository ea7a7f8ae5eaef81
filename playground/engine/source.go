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

// slimmed returns the text of one of the package's Go files with its edits, without what is left out, and all at one place.
func (p pkg) slimmed(text, name string) ([]byte, error) {
	file := p.ImportPath + "/" + name
	edited, err := edit(text, file)
	if err != nil {
		return nil, err
	}
	kubernetes := p.Module != nil && kubernetes[p.Module.Path]
	switch {
	case slices.Equal(leftOut[file], wholeFile), kubernetes && name == documentation:
		return []byte("package " + path.Base(p.ImportPath)), nil
	case !kubernetes && leftOut[file] == nil && emptied[file] == nil && edits[file] == nil:
		return oneLine([]byte(edited)), nil
	}
	without, err := withoutFunctions(edited, file, kubernetes)
	return oneLine(without), err
}

// withoutFunctions returns the text of a Go file without the functions that are left out or emptied, and without the imports that
// only they and edits needed.
func withoutFunctions(text, file string, kubernetes bool) ([]byte, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	cut, missing := cutter{text: text, set: set}, slices.Concat(leftOut[file], emptied[file])
	for _, d := range tree.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := nameOf(f)
		missing = slices.DeleteFunc(missing, func(wanted string) bool { return wanted == name })
		switch {
		case slices.Contains(leftOut[file], name):
			cut.remove(f)
		case slices.Contains(emptied[file], name):
			cut.empty(f)
		case kubernetes && f.Recv != nil && (protobuf[f.Name.Name] || path.Base(file) == "generated.pb.go" && f.Name.Name == "String"):
			cut.remove(f)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%s: there is no function %s to leave out", file, missing[0])
	}
	if tree, err = parser.ParseFile(set, file, cut.result(), parser.ParseComments); err != nil {
		return nil, err
	}
	removeUnusedImports(tree)
	var out bytes.Buffer
	err = format.Node(&out, set, tree)
	return out.Bytes(), err
}

// nameOf returns the name of a function, after the type of its receiver.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	if pointer, ok := receiver.(*ast.StarExpr); ok {
		receiver = pointer.X
	}
	if name, ok := receiver.(*ast.Ident); ok {
		return name.Name + "." + f.Name.Name
	}
	return f.Name.Name // of a generic type, none of which is left out
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

// cutter removes functions or what they do, in the order of the text.
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
	c.replace(start, f.End(), "")
}

func (c *cutter) empty(f *ast.FuncDecl) {
	body := "{}"
	if f.Type.Results != nil {
		body = `{ panic("left out of the page") }`
	}
	c.replace(f.Body.Pos(), f.End(), body)
}

func (c *cutter) replace(start, end token.Pos, text string) {
	c.kept.WriteString(c.text[c.done:c.set.Position(start).Offset] + text)
	c.done = c.set.Position(end).Offset
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
