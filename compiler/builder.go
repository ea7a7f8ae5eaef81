package compiler

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// builder creates the nodes of one expression as the parser would, with ids starting at 1. It
// records the macro calls of expanded nodes, so that the expression prints as an author would write
// it.
type builder struct {
	ast.ExprFactory
	info *ast.SourceInfo
	last int64
}

func newBuilder() *builder {
	return &builder{ExprFactory: ast.NewExprFactory(), info: ast.NewSourceInfo(nil)}
}

func (b *builder) id() int64 { b.last++; return b.last }

func (b *builder) ident(name string) ast.Expr { return b.NewIdent(b.id(), name) }

func (b *builder) literal(v ref.Val) ast.Expr { return b.NewLiteral(b.id(), v) }

func (b *builder) call(operator string, args ...ast.Expr) ast.Expr {
	return b.NewCall(b.id(), operator, args...)
}

func (b *builder) list(elements ...ast.Expr) ast.Expr { return b.NewList(b.id(), elements, nil) }

// field returns c.field.field.
func (b *builder) field(fields ...string) ast.Expr {
	e := b.ident(element)
	for _, f := range fields {
		e = b.NewSelect(b.id(), e, f)
	}
	return e
}

// pathOr returns variable.?field.?field.orValue(absent), in which every step is guarded.
func (b *builder) pathOr(absent ast.Expr, variable string, fields ...string) ast.Expr {
	e := b.ident(variable)
	for _, f := range fields {
		e = b.call(operators.OptSelect, e, b.literal(types.String(f)))
	}
	return b.NewMemberCall(b.id(), "orValue", e, absent)
}

// balanced joins terms by && or || into the balanced tree that the parser builds.
func (b *builder) balanced(operator string, terms []ast.Expr) ast.Expr {
	if len(terms) == 1 {
		return terms[0]
	}
	half := (len(terms) + 1) / 2
	return b.call(operator, b.balanced(operator, terms[:half]), b.balanced(operator, terms[half:]))
}

// exists returns the macro list.exists(c, predicate).
func (b *builder) exists(list, predicate ast.Expr) ast.Expr {
	id := b.id()
	b.info.SetMacroCall(id, b.NewMemberCall(0, operators.Exists, list, b.NewIdent(0, element), predicate))
	return b.NewComprehension(id, list, element, b.AccuIdentName(),
		b.literal(types.False),
		b.call(operators.NotStrictlyFalse, b.call(operators.LogicalNot, b.accumulator())),
		b.call(operators.LogicalOr, b.accumulator(), predicate),
		b.accumulator())
}

func (b *builder) accumulator() ast.Expr { return b.NewAccuIdent(b.id()) }
