package compiler

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Recognize finds the match that a canonical expression was written from. An
// expression is recognized exactly when the compiler would write the same for the
// match found: what is read out of it here is only a guess, which is then written
// again and compared.
func Recognize(e ast.Expr) (Match, bool) {
	m := guess(e)
	if m == nil || !same(e, newBuilder().expression(m)) {
		return nil, false
	}
	return m, true
}

func guess(e ast.Expr) Match {
	switch e.Kind() {
	case ast.LiteralKind:
		return Never{}
	case ast.ComprehensionKind:
		var g guesser
		ast.PostOrderVisit(e.AsComprehension().LoopStep(), ast.NewExprVisitor(g.visit))
		return g.match()
	case ast.CallKind: // both sides of an exit-code rule's || ask the same
		if args := e.AsCall().Args(); len(args) > 0 && args[0].Kind() == ast.ComprehensionKind {
			return guess(args[0])
		}
	default:
	}
	return nil
}

// guesser collects what the calls of an exists predicate compare with.
type guesser struct {
	exit       ExitCodes
	conditions PodConditions
	status     corev1.ConditionStatus
}

func (g *guesser) visit(e ast.Expr) {
	if e.Kind() != ast.CallKind {
		return
	}
	call := e.AsCall()
	switch args := call.Args(); call.FunctionName() {
	case operators.Equals:
		g.equals(args[0], args[1])
	case operators.In:
		if args[1].Kind() == ast.ListKind {
			g.in(args[1].AsList().Elements())
		}
	case operators.LogicalNot:
		g.exit.Not = g.exit.Values != nil
	}
}

func (g *guesser) equals(left, right ast.Expr) {
	s, ok := literal[types.String](right)
	if !ok || left.Kind() != ast.SelectKind {
		return
	}
	switch name := string(s); left.AsSelect().FieldName() {
	case "name":
		g.exit.Container = &name
	case "status":
		g.status = corev1.ConditionStatus(name)
	}
}

func (g *guesser) in(elements []ast.Expr) {
	for _, e := range elements {
		if code, ok := literal[types.Int](e); ok {
			g.exit.Values = append(g.exit.Values, int32(code)) //nolint:gosec // a code cut off is not the same again
		}
		if s, ok := literal[types.String](e); ok {
			g.conditions.Patterns = append(g.conditions.Patterns, batchv1.PodFailurePolicyOnPodConditionsPattern{
				Type: corev1.PodConditionType(s), Status: g.status,
			})
		}
	}
	if g.exit.Values == nil && g.conditions.Patterns == nil {
		g.exit.Values = []int32{}
	}
}

func (g *guesser) match() Match {
	switch {
	case g.exit.Values != nil:
		return g.exit
	case g.conditions.Patterns != nil:
		return g.conditions
	default:
		return nil
	}
}

func literal[T comparable](e ast.Expr) (T, bool) {
	if e.Kind() != ast.LiteralKind {
		var none T
		return none, false
	}
	v, ok := e.AsLiteral().(T)
	return v, ok
}

// same reports whether two expressions are equal but for the numbers of their
// nodes.
func same(a, b ast.Expr) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case ast.LiteralKind:
		return a.AsLiteral() == b.AsLiteral()
	case ast.IdentKind:
		return a.AsIdent() == b.AsIdent()
	case ast.SelectKind:
		x, y := a.AsSelect(), b.AsSelect()
		return x.FieldName() == y.FieldName() && x.IsTestOnly() == y.IsTestOnly() && same(x.Operand(), y.Operand())
	case ast.ListKind:
		x, y := a.AsList(), b.AsList()
		return len(x.OptionalIndices()) == len(y.OptionalIndices()) && sameAll(x.Elements(), y.Elements())
	case ast.CallKind:
		return sameCall(a.AsCall(), b.AsCall())
	case ast.ComprehensionKind:
		return sameComprehension(a.AsComprehension(), b.AsComprehension())
	default: // no canonical expression has maps or structs
		return false
	}
}

func sameAll(a, b []ast.Expr) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !same(a[i], b[i]) {
			return false
		}
	}
	return true
}

func sameCall(a, b ast.CallExpr) bool {
	return a.FunctionName() == b.FunctionName() && a.IsMemberFunction() == b.IsMemberFunction() &&
		(!a.IsMemberFunction() || same(a.Target(), b.Target())) && sameAll(a.Args(), b.Args())
}

func sameComprehension(a, b ast.ComprehensionExpr) bool {
	return a.IterVar() == b.IterVar() && a.IterVar2() == b.IterVar2() && a.AccuVar() == b.AccuVar() &&
		same(a.IterRange(), b.IterRange()) && same(a.AccuInit(), b.AccuInit()) &&
		same(a.LoopCondition(), b.LoopCondition()) && same(a.LoopStep(), b.LoopStep()) &&
		same(a.Result(), b.Result())
}
