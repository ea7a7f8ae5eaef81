package main

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// statement is a rule of a Rego module: its source text with the comment above it, but without METADATA.
type statement struct {
	folder string // folder of the rule's package
	name   string // name of the rule without brackets: breaches for breaches["G-TTL"]
	text   string
	rule   *ast.Rule
}

// readStatements returns the rules in a folder of the bundle in the order of the files, without tests.
func readStatements(bundle fs.FS, folder string) ([]statement, error) {
	files, err := fs.Glob(bundle, path.Join(folder, "*.rego"))
	if err != nil {
		return nil, err
	}
	var all []statement
	for _, file := range files {
		if strings.HasSuffix(file, "_test.rego") {
			continue
		}
		text, err := fs.ReadFile(bundle, file)
		if err != nil {
			return nil, err
		}
		read, err := statements(folder, file, string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, read...)
	}
	return all, nil
}

// statements parses a module and returns its rules.
func statements(folder, file, text string) ([]statement, error) {
	module, err := ast.ParseModuleWithOpts(file, text, ast.ParserOptions{RegoVersion: ast.RegoV1})
	if err != nil {
		return nil, err
	}
	var all []statement
	for _, rule := range module.Rules {
		source := string(rule.Location.Text)
		if rule.Default { // the location of a default rule covers only the keyword
			value := rule.Head.Value.Location
			source = text[rule.Location.Offset : value.Offset+len(value.Text)]
		}
		all = append(all, statement{folder, rule.Head.Reference[0].Value.String(), commentAbove(module, rule) + source, rule})
	}
	return all, nil
}

// commentAbove returns the comment that ends in the line before a rule, or "" if the comment is METADATA.
func commentAbove(module *ast.Module, rule *ast.Rule) string {
	row, comment := rule.Location.Row, ""
	for _, line := range slices.Backward(module.Comments) {
		if line.Location.Row == row-1 && line.Location.Col == 1 {
			row, comment = row-1, string(line.Location.Text)+"\n"+comment
		}
	}
	if strings.HasPrefix(comment, "# METADATA\n") {
		return ""
	}
	return comment
}

// isRule reports whether the statement adds findings, as opposed to a helper.
func (s statement) isRule() bool {
	return slices.Contains([]string{"findings", "warnings", "breaches"}, s.name)
}

// finds reports whether the statement contains the id of a rule as a string, as the statement that reports its
// breaches does.
func (s statement) finds(id string) bool {
	found := false
	hasID := func(term *ast.Term) bool {
		found = found || term.Equal(ast.StringTerm(id))
		return found
	}
	ast.WalkTerms(s.rule.Head.Reference, hasID) // the walk over the rule does not visit the reference
	ast.WalkTerms(s.rule, hasID)
	return found
}

// only returns the statement. If its value is an object with a member for each guardrail, only the given member
// remains.
func (s statement) only(id string) statement {
	if s.rule.Head.Value == nil {
		return s
	}
	object, ok := s.rule.Head.Value.Value.(ast.Object)
	if !ok {
		return s
	}
	key := ast.StringTerm(id)
	member := object.Get(key)
	if member == nil {
		return s
	}
	rule := s.rule.Copy()
	rule.Head.Value = ast.ObjectTerm(ast.Item(key, member))
	return statement{s.folder, s.name, fmt.Sprintf("%s := {\n\t%q: %s,\n}", s.name, id, member.Location.Text), rule}
}

// mentions returns the names that the statement may refer to, prefixed with the folder of their package. They include
// local variables and built-in functions.
func (s statement) mentions() map[string]bool {
	all := map[string]bool{}
	ast.WalkVars(s.rule, func(v ast.Var) bool {
		all[s.folder+"."+string(v)] = true
		return false
	})
	ast.WalkRefs(s.rule, func(ref ast.Ref) bool {
		if len(ref) > 1 {
			if name, ok := ref[1].Value.(ast.String); ok {
				all[ref[0].Value.String()+"."+string(name)] = true
			}
		}
		return false
	})
	return all
}

// needed returns the known statements that the given ones mention, directly or indirectly, in the order of known.
func needed(known, by []statement) []statement {
	taken := make([]bool, len(known))
	for open := slices.Clone(by); len(open) > 0; open = open[1:] {
		mentioned := open[0].mentions()
		for i, s := range known {
			if !taken[i] && mentioned[s.folder+"."+s.name] {
				taken[i] = true
				open = append(open, s)
			}
		}
	}
	var all []statement
	for i, s := range known {
		if taken[i] {
			all = append(all, s)
		}
	}
	return all
}
