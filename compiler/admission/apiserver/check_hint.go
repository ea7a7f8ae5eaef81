package apiserver

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/compiler/internal/hint"
)

var (
	undefinedField      = regexp.MustCompile(`^undefined field '(.*)'$`)
	undeclaredReference = regexp.MustCompile(`^undeclared reference to '([^']*)'`)
	identifier          = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)
)

// hint is what may have been meant at the place of a problem, or empty.
func (h *hinter) hint(p Problem) string {
	if match := undefinedField.FindStringSubmatch(p.Message); match != nil {
		return meant(match[1], h.fieldsAt(p))
	}
	match := undeclaredReference.FindStringSubmatch(p.Message)
	if match == nil {
		return ""
	}
	if name := hint.Name(match[1], h.names()); name != "" {
		return didYouMean(name)
	}
	return ""
}

// names are those of all variables and functions; operators are functions too, but have
// no names that one can write.
func (h *hinter) names() []string {
	var names []string
	for _, v := range h.env.Variables() {
		names = append(names, v.Name())
	}
	for name := range h.env.Functions() {
		if identifier.MatchString(name) && name[0] != '_' {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// fieldsAt are the fields of what the problem's expression selects from, at its place.
func (h *hinter) fieldsAt(p Problem) []string {
	tree, errs := h.checked(p.Expression)
	for _, e := range errs {
		if tree == nil || e.Location.Line() != p.Line || e.Location.Column()+1 != p.Column || e.Message != p.Message {
			continue
		}
		if object, ok := h.types[operandType(tree, e.ExprID)]; ok {
			return slices.Sorted(maps.Keys(object.Fields))
		}
	}
	return nil
}

// operandType is the name of the type that the expression of this id selects from.
func operandType(tree *ast.AST, id int64) string {
	name := ""
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		var operand ast.Expr
		switch {
		case e.ID() != id:
			return
		case e.Kind() == ast.SelectKind:
			operand = e.AsSelect().Operand()
		case e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.OptSelect:
			operand = e.AsCall().Args()[0]
		default:
			return
		}
		t := tree.GetType(operand.ID())
		if t.TypeName() == types.OptionalType.TypeName() {
			t = t.Parameters()[0]
		}
		name = t.TypeName()
	}))
	return name
}

// meant says which of the names may have been meant, or all of them.
func meant(wrong string, names []string) string {
	if name := hint.Name(wrong, names); name != "" {
		return didYouMean(name)
	}
	if len(names) == 0 {
		return ""
	}
	return "there are " + strings.Join(names, ", ")
}

func didYouMean(name string) string { return fmt.Sprintf("did you mean %q?", name) }
