package closure

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/compiler/cel"
)

func (s *scope) tryBool(e ast.Expr) boolean {
	if s.kind(e) != types.BoolKind {
		return nil
	}
	switch e.Kind() {
	case ast.LiteralKind:
		answer := truth(e.AsLiteral() == types.True)
		return func(*Frame) Truth { return answer }
	case ast.IdentKind:
		return s.variables[s.variable(e)].Bool
	case ast.SelectKind:
		return s.boolField(e)
	case ast.ComprehensionKind:
		return s.quantified(e.AsComprehension())
	case ast.CallKind:
		return s.boolCall(e)
	default:
		return nil
	}
}

func (s *scope) boolCall(e ast.Expr) boolean {
	call := e.AsCall()
	args := call.Args()
	switch call.FunctionName() {
	case operators.LogicalAnd:
		return and(s.bool(args[0]), s.bool(args[1]))
	case operators.LogicalOr:
		return or(s.bool(args[0]), s.bool(args[1]))
	case operators.LogicalNot:
		return not(s.bool(args[0]))
	case operators.Conditional:
		return s.boolConditional(args)
	case operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		return s.comparison(call.FunctionName(), args[0], args[1])
	case operators.In:
		return s.in(args[0], args[1])
	case "orValue":
		return s.boolOrValue(call)
	case "hasValue":
		return s.hasValue(call)
	}
	if call.IsMemberFunction() && s.kind(call.Target()) == types.StringKind {
		return s.stringTest(call)
	}
	return s.libraryTest(call)
}

func and(a, b boolean) boolean {
	return func(f *Frame) Truth {
		left := a(f)
		if left == No {
			return No
		}
		return conjunction(left, b(f))
	}
}

func or(a, b boolean) boolean {
	return func(f *Frame) Truth {
		left := a(f)
		if left == Yes {
			return Yes
		}
		if right := b(f); right != No {
			return right
		}
		return left
	}
}

func not(a boolean) boolean {
	return func(f *Frame) Truth { return negated(a(f)) }
}

// conjunction returns a && b, where Undecided stands for an error.
func conjunction(a, b Truth) Truth {
	if a == No || b == Yes {
		return a
	}
	return b
}

func negated(a Truth) Truth {
	switch a {
	case Yes:
		return No
	case No:
		return Yes
	default:
		return Undecided
	}
}

func (s *scope) boolConditional(args []ast.Expr) boolean {
	condition, yes, no := s.bool(args[0]), s.bool(args[1]), s.bool(args[2])
	return func(f *Frame) Truth {
		switch condition(f) {
		case Yes:
			return yes(f)
		case No:
			return no(f)
		default:
			return Undecided
		}
	}
}

// libraryTest compiles a function of compiler/cel that returns a bool.
func (s *scope) libraryTest(call ast.CallExpr) boolean {
	if !call.IsMemberFunction() {
		return nil
	}
	args := call.Args()
	if call.FunctionName() == cel.BetweenFunction && len(args) == 2 {
		return s.between(call.Target(), args[0], args[1])
	}
	switch s.variable(call.Target()) {
	case "pod":
	case "node":
		return s.nodeTest(call)
	default:
		return nil
	}
	switch call.FunctionName() {
	case cel.NeverStartedFunction:
		return func(f *Frame) Truth {
			return decided(cel.NeverStarted(f.Pod), f.look(cel.Count(f.Pod)))
		}
	case cel.UnschedulableFunction:
		return func(f *Frame) Truth {
			return decided(cel.Unschedulable(f.Pod), f.look(len(f.Pod.Status.Conditions)))
		}
	case cel.HasConditionFunction:
		conditionType := s.text(args[0])
		if conditionType == nil {
			return nil
		}
		return func(f *Frame) Truth {
			t, ok := conditionType(f)
			if !ok || !f.look(len(f.Pod.Status.Conditions)) {
				return Undecided
			}
			return truth(cel.HasCondition(f.Pod, t))
		}
	default:
		return nil
	}
}

func (s *scope) between(value, low, high ast.Expr) boolean {
	v, from, to := s.integer(value), s.integer(low), s.integer(high)
	if v == nil || from == nil || to == nil {
		return nil
	}
	return func(f *Frame) Truth {
		v, ok1 := v(f)
		from, ok2 := from(f)
		to, ok3 := to(f)
		if !ok1 || !ok2 || !ok3 {
			return Undecided
		}
		return truth(cel.Between(v, from, to))
	}
}
