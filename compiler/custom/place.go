package custom

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"

	"github.com/podverdict/podverdict/compiler"
)

// place is the location of an expression in a policy.
type place struct {
	rule           int
	ruleName, path string
	text           string
	// visible is the number of leading variables that the expression may use.
	visible int
}

func conditionPlace(i int, text string) place {
	return place{rule: compiler.NoRule, path: fmt.Sprintf("spec.matchConditions[%d].expression", i), text: text}
}

func variablePlace(i int, text string) place {
	return place{rule: compiler.NoRule, path: fmt.Sprintf("spec.variables[%d].expression", i), text: text, visible: i}
}

func rulePlace(i int, name, field, text string) place {
	return place{rule: i, ruleName: name, path: fmt.Sprintf("spec.rules[%d].%s", i, field), text: text, visible: MaxItems}
}

// finding returns a finding at a location in the expression. CEL gives no location for errors that
// concern a whole expression.
func (p place) finding(check string, severity compiler.Severity, at common.Location, message, hint string) compiler.Finding {
	return compiler.Finding{
		Check: check, Severity: severity, Rule: p.rule, RuleName: p.ruleName, Field: p.path,
		Line: max(at.Line(), 1), Column: max(at.Column()+1, 1), Expression: p.text, Message: message, Hint: hint,
	}
}

func (p place) err(check string, at common.Location, message, hint string) compiler.Finding {
	return p.finding(check, compiler.Error, at, message, hint)
}

func (p place) warning(check string, at common.Location, message, hint string) compiler.Finding {
	return p.finding(check, compiler.Warning, at, message, hint)
}

// start returns the beginning of the expression.
func (p place) start() common.Location { return common.NewLocation(1, 0) }

// locate returns the location of a node: the start of the field or function name. A macro expansion
// contains nodes that are not in the source; they have the location of their first part that is.
func (p place) locate(tree *ast.AST, e ast.Expr) common.Location {
	if at := tree.SourceInfo().GetStartLocation(e.ID()); at.Line() > 0 {
		return p.nameAt(tree, e, at)
	}
	found, seen := p.start(), false
	Visit(e, nil, func(e ast.Expr, _ []string) {
		if at := tree.SourceInfo().GetStartLocation(e.ID()); !seen && at.Line() > 0 {
			found, seen = p.nameAt(tree, e, at), true
		}
	})
	return found
}

// nameAt returns the location of the name. CEL gives the location of the dot of a selection, or of
// the bracket of a call or an object.
func (p place) nameAt(tree *ast.AST, e ast.Expr, at common.Location) common.Location {
	lines := strings.Split(p.text, "\n")
	if at.Line() < 1 || at.Line() > len(lines) {
		return at
	}
	line, column := []rune(lines[at.Line()-1]), at.Column()
	for column >= 0 && column < len(line) && (line[column] == '.' || line[column] == '?' && column == at.Column()+1) {
		column++
	}
	if name := []rune(nameOf(tree, e)); column < len(line) && (line[column] == '(' || line[column] == '{') &&
		column >= len(name) && string(line[column-len(name):column]) == string(name) {
		column -= len(name)
	}
	return common.NewLocation(at.Line(), column)
}

// fieldAt returns the location of the field that a has() macro tests. CEL gives the beginning of
// the macro.
func (p place) fieldAt(tree *ast.AST, has ast.Expr) common.Location {
	at := p.locate(tree, has.AsSelect().Operand())
	lines := strings.Split(p.text, "\n")
	if at.Line() > len(lines) {
		return at
	}
	line := []rune(lines[at.Line()-1])
	column := min(at.Column(), len(line))
	before, _, found := strings.Cut(string(line[column:]), "."+has.AsSelect().FieldName())
	if !found {
		return at
	}
	return common.NewLocation(at.Line(), column+len([]rune(before))+1)
}

// nameOf returns the name of the function or macro that a node calls, or of the object that it
// constructs, or an empty string.
func nameOf(tree *ast.AST, e ast.Expr) string {
	if macro, ok := tree.SourceInfo().GetMacroCall(e.ID()); ok {
		e = macro
	}
	switch e.Kind() {
	case ast.CallKind:
		return e.AsCall().FunctionName()
	case ast.StructKind:
		return e.AsStruct().TypeName()
	default:
		return ""
	}
}

// begin returns the location of a node's first part.
func (p place) begin(tree *ast.AST, e ast.Expr) common.Location {
	first := p.locate(tree, e)
	Visit(e, nil, func(e ast.Expr, _ []string) {
		at := tree.SourceInfo().GetStartLocation(e.ID())
		if at.Line() == 0 {
			return
		}
		if at = p.wholeAt(e, p.nameAt(tree, e, at)); at.Line() < first.Line() || at.Line() == first.Line() && at.Column() < first.Column() {
			first = at
		}
	})
	return first
}

// wholeAt returns the start of a selection of one of the policy's variables. The syntax tree only
// has the location of its name.
func (p place) wholeAt(e ast.Expr, at common.Location) common.Location {
	lines := strings.Split(p.text, "\n")
	column := at.Column() - len(compiler.VariablesVariable+".")
	if e.Kind() != ast.IdentKind || column < 0 || at.Line() > len(lines) {
		return at
	}
	line := []rune(lines[at.Line()-1])
	if strings.HasPrefix(e.AsIdent(), compiler.VariablesVariable+".") && column < len(line) && strings.HasPrefix(string(line[column:]), e.AsIdent()) {
		return common.NewLocation(at.Line(), column)
	}
	return at
}

// isCondition reports whether the expression is a match condition, which can refer only to the Job.
func (p place) isCondition() bool { return p.rule == compiler.NoRule && !p.isVariable() }

func (p place) isVariable() bool { return strings.HasPrefix(p.path, "spec.variables") }
