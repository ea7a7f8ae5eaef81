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

// regoSource is a template's code for Gatekeeper's Rego engine.
type regoSource struct {
	// Version is v1, which Gatekeeper knows since 3.19. Older ones read everything as v0.
	Version string `json:"version"`
	// Rego is the module with the rule violation.
	Rego string `json:"rego"`
	// Libs are modules whose packages start with lib. Nothing else can be imported.
	Libs []string `json:"libs,omitempty"`
}

// entries are what templates have instead of statements of the bundle of the same names: the rule violation first, and
// how an object is handed over. They leave the same requests alone as the match conditions of a ValidatingAdmissionPolicy;
// Gatekeeper shows an object that is deleted as if it were a new one. The files' extension hides them from opa check policies.
//
//go:embed *.rego.in
var entries embed.FS

// packages are the packages of the bundle that have a catalogue's rules or are imported by them, each after those that
// import it.
var packages = map[string][]string{
	"guardrails":  {"guardrails", "admission", "operators"},
	"constraints": {"job", "admission", "names", "indexes", "fields", "operators"},
}

// regoBundle has the statements that the templates of a catalogue consist of.
type regoBundle struct {
	packages  []string
	violation statement
	// rules find breaches, and known are all statements that they may need.
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

// given returns the statements that replace what the bundle reads from its data, and what the entries leave open.
func (b regoBundle) given(rule statement, r admission.Rule) ([]statement, error) {
	parameters, err := json.Marshal(parametersOf(r))
	if err != nil {
		return nil, err
	}
	return statements(b.packages[0], r.ID, fmt.Sprintf(`package podverdict.%s

config := {%q: object.union(%s, input.parameters)}

_found := %s`, b.packages[0], r.ID, parameters, rule.name))
}

// modules puts the statements of each package together.
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

// moduleText returns the text of a module with the imports that it needs. Each tab becomes two spaces, because YAML
// prints a text with tabs on one line.
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
