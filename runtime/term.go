package runtime

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	"github.com/google/cel-go/parser"
)

// terms are the sub-expressions of an exists predicate that are worth telling:
// what && and || join, and what those compare.
type terms struct {
	info *ast.SourceInfo
	list []ast.Expr
}

func newTerms(a *ast.AST) *terms {
	t := &terms{info: a.SourceInfo()}
	ast.PreOrderVisit(a.Expr(), ast.NewExprVisitor(t.predicate))
	return t
}

// predicate takes the terms of an exists macro, whose loop step is accumulator ||
// predicate.
func (t *terms) predicate(e ast.Expr) {
	if e.Kind() != ast.ComprehensionKind {
		return
	}
	if step := e.AsComprehension().LoopStep(); step.Kind() == ast.CallKind && step.AsCall().FunctionName() == operators.LogicalOr {
		t.split(step.AsCall().Args()[1])
	}
}

func (t *terms) split(e ast.Expr) {
	if e.Kind() != ast.CallKind {
		return
	}
	switch call := e.AsCall(); call.FunctionName() {
	case operators.LogicalAnd, operators.LogicalOr:
		for _, arg := range call.Args() {
			t.split(arg)
		}
	case operators.LogicalNot:
		t.operand(call.Args()[0])
		t.list = append(t.list, e)
	default:
		t.operand(e)
		t.list = append(t.list, e)
	}
}

// operand is what a comparison looks at: its left side.
func (t *terms) operand(e ast.Expr) {
	if e.Kind() == ast.CallKind && len(e.AsCall().Args()) > 0 {
		t.list = append(t.list, e.AsCall().Args()[0])
	}
}

func (t *terms) values(state interpreter.EvalState) []Value {
	var values []Value
	for _, e := range t.list {
		v, ok := state.Value(e.ID())
		if !ok {
			continue
		}
		text, err := parser.Unparse(e, t.info)
		if err != nil {
			continue // only expressions that no rule has cannot be printed
		}
		if value := (Value{Expression: text, Value: literal(v)}); !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}

func literal(v ref.Val) string {
	s, err := parser.Unparse(ast.NewExprFactory().NewLiteral(0, v), ast.NewSourceInfo(nil))
	if err != nil {
		return fmt.Sprint(v.Value()) // a part of the pod, which has no literal
	}
	return s
}
