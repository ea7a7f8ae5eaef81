package admission

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// regoSource is a template's code for Gatekeeper's Rego engine.
type regoSource struct {
	// Version v1 is known to Gatekeeper since 3.19; the ones before it read everything as v0.
	Version string `json:"version"`
	// Rego is the module with the rule violation.
	Rego string `json:"rego"`
	// Libs are modules whose packages start with lib. Nothing else can be imported.
	Libs []string `json:"libs,omitempty"`
}

// entries are the modules with the rule violation. What they leave alone are requests of which the match conditions of
// the CEL engine are not true; Gatekeeper shows an object that is deleted as if it were a new one.
//
//go:embed rules/gatekeeper_*.rego
var entries embed.FS

// bundlePart is where a catalogue's rules are in the bundle: a package, and those that it imports, in an order in which
// each is after those that import it.
type bundlePart struct {
	folder  string
	imports []string
}

var bundleParts = map[string]bundlePart{
	"guardrails":  {folder: "guardrails"},
	"constraints": {folder: "job", imports: []string{"names", "indexes", "fields"}},
}

// gatekeeperRego is one rule of the bundle with all that it needs, one way or another, and nothing else.
func gatekeeperRego(bundle fs.FS, c *Catalogue, r Rule) (regoSource, error) {
	part := bundleParts[c.Name]
	var known []statement
	for _, folder := range append([]string{part.folder}, part.imports...) {
		read, err := readStatements(bundle, folder)
		if err != nil {
			return regoSource{}, err
		}
		known = append(known, read...)
	}
	chosen, err := entry(c, part)
	if err != nil {
		return regoSource{}, err
	}
	i := slices.IndexFunc(known, func(s statement) bool { return s.finds(r.ID) })
	if i < 0 {
		return regoSource{}, errNoRego(r.ID)
	}
	chosen = append(chosen, known[i:i+1]...)
	settings, err := settingStatements(part, known[i], r)
	if err != nil {
		return regoSource{}, err
	}
	known = append(settings, slices.DeleteFunc(known, statement.replaced)...)
	for i := range known {
		known[i] = known[i].only(r.ID)
	}
	return source(part, append(chosen, needed(known, chosen)...)), nil
}

// entry is the violation rule for a catalogue.
func entry(c *Catalogue, part bundlePart) ([]statement, error) {
	text, err := entries.ReadFile("rules/gatekeeper_" + c.Name + ".rego")
	return statements(part.folder, string(text)), err
}

// settingStatements stand for what the bundle reads out of its data, and for what the entries leave open.
func settingStatements(part bundlePart, rule statement, r Rule) ([]statement, error) {
	parameters, err := json.Marshal(parametersOf(r))
	if err != nil {
		return nil, err
	}
	fields, err := json.Marshal(mutable)
	if err != nil {
		return nil, err
	}
	return []statement{
		{part.folder, "config", fmt.Sprintf("config := {%q: object.union(%s, input.parameters)}", r.ID, parameters)},
		{part.folder, "_mutable", fmt.Sprintf("_mutable := %s", fields)},
		{part.folder, "_found", "_found := " + rule.name},
	}, nil
}

// source puts the statements of each package together.
func source(part bundlePart, all []statement) regoSource {
	in := func(folder string) []statement {
		return slices.DeleteFunc(slices.Clone(all), func(s statement) bool { return s.folder != folder })
	}
	s := regoSource{Version: "v1", Rego: moduleText("podverdict."+part.folder, part.imports, in(part.folder))}
	for i, folder := range part.imports {
		if own := in(folder); len(own) > 0 {
			s.Libs = append(s.Libs, moduleText("lib.podverdict."+folder, part.imports[i+1:], own))
		}
	}
	return s
}

// moduleText is a module, with those imports that it needs. It has two spaces for every tab: YAML prints a text with
// tabs in one line.
func moduleText(name string, imports []string, statements []statement) string {
	var body strings.Builder
	for _, s := range statements {
		body.WriteString("\n" + s.text + "\n")
	}
	var head strings.Builder
	head.WriteString("package " + name + "\n")
	for _, folder := range slices.Sorted(slices.Values(imports)) {
		if strings.Contains(body.String(), folder+".") {
			head.WriteString("\nimport data.lib.podverdict." + folder)
		}
	}
	text := head.String() + body.String()
	if strings.Contains(head.String(), "import") {
		text = head.String() + "\n" + body.String()
	}
	return strings.ReplaceAll(text, "\t", "  ")
}
