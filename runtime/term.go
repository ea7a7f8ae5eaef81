package runtime

import (
	"fmt"

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
	if a.Expr().Kind() == ast.ComprehensionKind {
		// The loop step of exists is accumulator || predicate.
		t.split(a.Expr().AsComprehension().LoopStep().AsCall().Args()[1])
	}
	return t
}

func (t *terms) split(e ast.Expr) {
	if e.Kind() != ast.CallKind {
		return
	}
	switch call := e.AsCall(); call.FunctionName() {
	case operators.LogicalAnd, operators.LogicalOr:
		t.split(call.Args()[0])
		t.split(call.Args()[1])
	case operators.LogicalNot:
		t.operand(call.Args()[0].AsCall())
		t.list = append(t.list, e)
	default:
		t.operand(call)
		t.list = append(t.list, e)
	}
}

func (t *terms) operand(call ast.CallExpr) { t.list = append(t.list, call.Args()[0]) }

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
		values = append(values, Value{Expression: text, Value: literal(v)})
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
