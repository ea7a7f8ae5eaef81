package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/compiler/admission"
)

// regoSource is the code of a template for Gatekeeper's Rego engine.
type regoSource struct {
	// Version is v1, supported by Gatekeeper since 3.19. Older versions parse all code as v0.
	Version string `json:"version"`
	// Rego is the module with the rule violation.
	Rego string `json:"rego"`
	// Libs are modules with packages below lib. Gatekeeper rejects all other imports.
	Libs []string `json:"libs,omitempty"`
}

// entries replace statements of the bundle that have the same names: first the rule violation, then the statements
// that pass in the object. They skip the same requests as the match conditions of a ValidatingAdmissionPolicy;
// Gatekeeper presents a deleted object as if it were new. The extension of the files hides them from opa check
// policies.
//
//go:embed *.rego.in
var entries embed.FS

// packages lists, by catalogue, the packages of the bundle that contain its rules or that the rules import. Each
// package comes after the packages that import it.
var packages = map[string][]string{
	"guardrails":  {"guardrails", "admission", "operators"},
	"constraints": {"job", "admission", "names", "indexes", "fields", "operators"},
}

// regoBundle holds the statements from which the templates of a catalogue are built.
type regoBundle struct {
	packages  []string
	violation statement
	// rules report breaches; known are all statements that the rules may need.
	rules, known []statement
}

func readBundle(bundle fs.FS, catalogue string) (regoBundle, error) {
	b := regoBundle{packages: packages[catalogue]}
	file := catalogue + ".rego.in"
	text, err := entries.ReadFile(file)
	if err != nil {
		return b, err
	}
	entry, err := statements(b.packages[0], file, string(text))
	if err != nil {
		return b, err
	}
	b.violation, b.known = entry[0], entry[1:]
	replaced := func(s statement) bool {
		return s.name == "config" || slices.ContainsFunc(entry, func(e statement) bool { return e.folder == s.folder && e.name == s.name })
	}
	for _, folder := range b.packages {
		read, err := readStatements(bundle, folder)
		if err != nil {
			return b, err
		}
		for _, s := range read {
			switch {
			case s.isRule():
				b.rules = append(b.rules, s)
			case !replaced(s):
				b.known = append(b.known, s)
			}
		}
	}
	return b, nil
}

// source returns one rule of the bundle with the statements that it needs, directly or indirectly, and no others.
func (b regoBundle) source(r admission.Rule) (regoSource, error) {
	rule := slices.DeleteFunc(slices.Clone(b.rules), func(s statement) bool { return !s.finds(r.ID) })
	if len(rule) == 0 {
		return regoSource{}, fmt.Errorf("%s: nothing in the bundle finds it", r.ID)
	}
	known, err := b.given(rule[0], r)
	if err != nil {
		return regoSource{}, err
	}
	for _, s := range b.known {
		known = append(known, s.only(r.ID))
	}
	chosen := append([]statement{b.violation}, rule...)
	return b.modules(append(chosen, needed(known, chosen)...)), nil
}

// given returns the statements that replace the bundle's data, and the definition of _found, which the entries need.
func (b regoBundle) given(rule statement, r admission.Rule) ([]statement, error) {
	parameters, err := json.Marshal(parametersOf(r))
	if err != nil {
		return nil, err
	}
	return statements(b.packages[0], r.ID, fmt.Sprintf(`package podverdict.%s

config := {%q: object.union(%s, input.parameters)}

_found := %s`, b.packages[0], r.ID, parameters, rule.name))
}

// modules joins the statements of each package into a module.
func (b regoBundle) modules(all []statement) regoSource {
	s := regoSource{Version: "v1"}
	for i, folder := range b.packages {
		own := slices.DeleteFunc(slices.Clone(all), func(s statement) bool { return s.folder != folder })
		imports := b.packages[i+1:]
		switch {
		case i == 0:
			s.Rego = moduleText("podverdict."+folder, imports, own)
		case len(own) > 0:
			s.Libs = append(s.Libs, moduleText("lib.podverdict."+folder, imports, own))
		}
	}
	return s
}

// moduleText returns the text of a module with the imports that it needs. It replaces each tab by two spaces, because
// YAML encodes text with tabs on one line.
func moduleText(name string, imports []string, statements []statement) string {
	var text strings.Builder
	for _, s := range statements {
		text.WriteString("\n" + s.text + "\n")
	}
	body := text.String()
	var imported []string
	for _, folder := range slices.Sorted(slices.Values(imports)) {
		if strings.Contains(body, folder+".") {
			imported = append(imported, "import data.lib.podverdict."+folder)
		}
	}
	head := "package " + name + "\n"
	if len(imported) > 0 {
		head += "\n" + strings.Join(imported, "\n") + "\n"
	}
	return strings.ReplaceAll(head+body, "\t", "  ")
}
