package compiler

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	corev1 "k8s.io/api/core/v1"
)

// element is the loop variable: a container status or a pod condition.
const element = "c"

// expression returns the canonical CEL of a match. All CEL text and trees are generated
// here. Equal matches always produce equal expressions.
func (b *builder) expression(m Match) ast.Expr {
	switch m := m.(type) {
	case ExitCodes:
		return b.call(operators.LogicalOr,
			b.exists(b.statusList("containerStatuses"), b.exitCodes(m)),
			b.exists(b.statusList("initContainerStatuses"), b.exitCodes(m)))
	case PodConditions:
		if len(m.Patterns) > 0 {
			return b.exists(b.statusList("conditions"), b.podConditions(m))
		}
	case Never:
	}
	return b.literal(types.False)
}

// statusList returns a list of the pod's status, or an empty list if it is absent. The
// lists are not concatenated, because in the API server each has its own element type.
func (b *builder) statusList(name string) ast.Expr {
	return b.pathOr(b.list(), PodVariable, "status", name)
}

// exitCodes skips containers that are not terminated or have succeeded before it
// evaluates the operator: exit code 0 matches no rule, not even NotIn.
func (b *builder) exitCodes(m ExitCodes) ast.Expr {
	terms := make([]ast.Expr, 0, 3)
	terms = append(terms, b.call(operators.NotEquals,
		b.pathOr(b.literal(types.IntZero), element, "state", "terminated", "exitCode"),
		b.literal(types.IntZero)))
	if m.Container != nil {
		terms = append(terms, b.call(operators.Equals,
			b.field("name"), b.literal(types.String(*m.Container))))
	}
	return b.balanced(operators.LogicalAnd, append(terms, b.exitCodeIn(m)))
}

func (b *builder) exitCodeIn(m ExitCodes) ast.Expr {
	values := make([]ast.Expr, len(m.Values))
	for i, v := range m.Values {
		values[i] = b.literal(types.Int(v))
	}
	return b.exitCode(m, b.field("state", "terminated", "exitCode"), b.list(values...))
}

// podConditions returns one term for each status. This keeps the expression of the
// largest valid policy small, because all its types are in one list.
func (b *builder) podConditions(m PodConditions) ast.Expr {
	statuses := m.statuses()
	terms := make([]ast.Expr, len(statuses))
	for i, s := range statuses {
		terms[i] = b.call(operators.LogicalAnd,
			b.call(operators.Equals, b.field("status"), b.literal(types.String(s))),
			b.call(operators.In, b.field("type"), b.list(b.types(m, s)...)))
	}
	return b.balanced(operators.LogicalOr, terms)
}

func (b *builder) types(m PodConditions, status corev1.ConditionStatus) []ast.Expr {
	var list []ast.Expr
	for _, p := range m.Patterns {
		if p.Status == status {
			list = append(list, b.literal(types.String(p.Type)))
		}
	}
	return list
}
