package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// variable is what chooses a mutant when a test program starts.
const variable = "PODVERDICT_MUTANT"

// edit replaces a part of a file.
type edit struct {
	start, end int
	text       string
}

// writeOverlay has all mutants in one build, and returns the file that the go command reads. A function in which there are
// mutants has a changed copy of itself for each, and begins with a call of the copy whose number is chosen.
func writeOverlay(root, folder string, mutants map[int]*mutant) (string, error) {
	edits, sources := map[string][]edit{}, map[string]*file{}
	replace := map[string]string{}
	for number, m := range mutants {
		edits[m.File], sources[m.File] = append(edits[m.File], editsOf(number, m)...), m.file
		chooser := path.Join(m.Package, "mutant.go")
		sources[chooser] = &file{source: fmt.Appendf(nil, "package %s\n\nimport \"os\"\n\nvar chosenMutant = os.Getenv(%q)\n", m.file.Name.Name, variable)}
	}
	for name, source := range sources {
		changed := filepath.Join(folder, strings.ReplaceAll(name, "/", "_"))
		replace[filepath.Join(root, filepath.FromSlash(name))] = changed
		if err := os.WriteFile(changed, apply(source.source, edits[name]), 0o600); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(folder, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}

// apply makes the edits, of which equal ones count once.
func apply(source []byte, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(a.text, b.text))
	})
	var changed []byte
	end := 0
	for _, e := range slices.Compact(edits) {
		changed = append(append(changed, source[end:e.start]...), e.text...)
		end = e.end
	}
	return append(changed, source[end:]...)
}

// editsOf adds the changed copy of the function, and the call of it. The compiler names a file of the copy's own.
func editsOf(number int, m *mutant) []edit {
	f, d := m.file, m.function
	name := fmt.Sprintf("%sMutant%d", d.Name.Name, number)
	text := fmt.Sprintf("\n//line mutant%d.go:1\n%s%s%s%s%s\n", number, f.text(d.Pos(), d.Name.Pos()), name,
		f.source[f.offset(d.Name.End()):m.start], m.After, f.source[m.end:f.offset(d.End())])
	edits, call := f.call(d, name)
	if d.Type.Results == nil {
		call += "; return"
	} else {
		call = "return " + call
	}
	start := f.offset(d.Body.Lbrace) + 1
	edits = append(edits, edit{start, start, fmt.Sprintf(" if chosenMutant == \"%d\" { %s };", number, call)})
	return append(edits, edit{len(f.source), len(f.source), text})
}

// call returns a call of the copy, with edits that name the parameters that have no names.
func (f *file) call(d *ast.FuncDecl, name string) ([]edit, string) {
	var edits []edit
	names := func(fields *ast.FieldList, prefix string) (all []string) {
		for i, field := range fields.List {
			if len(field.Names) == 0 {
				all = append(all, fmt.Sprint(prefix, i))
				start := f.offset(field.Type.Pos())
				edits = append(edits, edit{start, start, all[len(all)-1] + " "})
			}
			for k, known := range field.Names {
				all = append(all, known.Name)
				if known.Name == "_" {
					all[len(all)-1] = fmt.Sprint(prefix, i, "x", k)
					edits = append(edits, edit{f.offset(known.Pos()), f.offset(known.End()), all[len(all)-1]})
				}
			}
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				all[len(all)-1] += "..."
			}
		}
		return all
	}
	if d.Recv != nil {
		name = names(d.Recv, "receiver")[0] + "." + name
	}
	if d.Type.TypeParams != nil {
		name += "[" + strings.Join(names(d.Type.TypeParams, "type"), ", ") + "]"
	}
	return edits, name + "(" + strings.Join(names(d.Type.Params, "argument"), ", ") + ")"
}
