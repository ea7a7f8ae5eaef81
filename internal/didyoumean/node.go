package didyoumean

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// OperandType returns the name of the object type from which a node of an expression selects a field, or "" if the node
// does not select a field of an object.
func OperandType(tree *ast.AST, node int64) string {
	name := ""
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		var operand ast.Expr
		switch {
		case e.ID() != node:
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
		if t.Kind() == types.StructKind {
			name = t.TypeName()
		}
	}))
	return name
}
