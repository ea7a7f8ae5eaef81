package custom

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// children returns the child nodes of a node, and nil for a comprehension.
func children(e ast.Expr) []ast.Expr {
	switch e.Kind() {
	case ast.SelectKind:
		return []ast.Expr{e.AsSelect().Operand()}
	case ast.CallKind:
		call := e.AsCall()
		if call.IsMemberFunction() {
			return append([]ast.Expr{call.Target()}, call.Args()...)
		}
		return call.Args()
	case ast.ListKind:
		return e.AsList().Elements()
	case ast.MapKind:
		var parts []ast.Expr
		for _, entry := range e.AsMap().Entries() {
			parts = append(parts, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
		return parts
	case ast.StructKind:
		var parts []ast.Expr
		for _, field := range e.AsStruct().Fields() {
			parts = append(parts, field.AsStructField().Value())
		}
		return parts
	default:
		return nil
	}
}

// Visit calls see for each node of an expression, with the names that the enclosing
// comprehensions define.
func Visit(e ast.Expr, locals []string, see func(e ast.Expr, locals []string)) {
	see(e, locals)
	if e.Kind() != ast.ComprehensionKind {
		for _, child := range children(e) {
			Visit(child, locals, see)
		}
		return
	}
	loop := e.AsComprehension()
	Visit(loop.IterRange(), locals, see)
	Visit(loop.AccuInit(), locals, see)
	locals = append(slices.Clip(locals), loop.IterVar(), loop.IterVar2(), loop.AccuVar())
	Visit(loop.LoopCondition(), locals, see)
	Visit(loop.LoopStep(), locals, see)
	Visit(loop.Result(), locals, see)
}

// find returns the node with an id, or nil.
func find(e ast.Expr, id int64) ast.Expr {
	var found ast.Expr
	Visit(e, nil, func(e ast.Expr, _ []string) {
		if e.ID() == id {
			found = e
		}
	})
	return found
}

// visitCalls calls see for each call in an expression.
func visitCalls(e ast.Expr, see func(e ast.Expr, call ast.CallExpr)) {
	Visit(e, nil, func(e ast.Expr, _ []string) {
		if e.Kind() == ast.CallKind {
			see(e, e.AsCall())
		}
	})
}

func isCall(e ast.Expr, function string) bool {
	return e.Kind() == ast.CallKind && e.AsCall().FunctionName() == function
}

// isFilter reports whether a loop returns a list of some of its elements, unchanged.
func isFilter(loop ast.ComprehensionExpr) bool {
	step := loop.LoopStep()
	if !isCall(step, operators.Conditional) {
		return false
	}
	add := step.AsCall().Args()[1]
	if !isCall(add, operators.Add) {
		return false
	}
	added := add.AsCall().Args()[1]
	if added.Kind() != ast.ListKind || added.AsList().Size() != 1 {
		return false
	}
	element := added.AsList().Elements()[0]
	return element.Kind() == ast.IdentKind && element.AsIdent() == loop.IterVar()
}

// objectOf returns the type of an optional's value, or the type itself.
func objectOf(t *types.Type) *types.Type {
	if isOptional(t) {
		return t.Parameters()[0]
	}
	return t
}

func isOptional(t *types.Type) bool { return t.TypeName() == types.OptionalType.TypeName() }
