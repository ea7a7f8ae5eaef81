package closure

import (
	"cmp"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// comparison compares two values of the same type.
func (s *scope) comparison(operator string, left, right ast.Expr) boolean {
	if s.kind(left) != s.kind(right) {
		return nil
	}
	switch s.kind(left) {
	case types.IntKind:
		return compare(operator, s.integer(left), s.integer(right))
	case types.StringKind:
		return compare(operator, s.compared(left), s.compared(right))
	case types.DurationKind:
		return compare(operator, s.duration(left), s.duration(right))
	case types.BoolKind:
		return s.compareBools(operator, left, right)
	default:
		return nil
	}
}

// compare returns a closure for the operator, so that evaluation does not have to look it up.
func compare[T cmp.Ordered, F ~func(*Frame) (T, bool)](operator string, left, right F) boolean {
	if left == nil || right == nil {
		return nil
	}
	switch operator {
	case operators.Equals:
		return func(f *Frame) Truth {
			l, okL := left(f)
			r, okR := right(f)
			return decided(l == r, okL && okR)
		}
	case operators.NotEquals:
		return func(f *Frame) Truth {
			l, okL := left(f)
			r, okR := right(f)
			return decided(l != r, okL && okR)
		}
	case operators.Greater:
		return compare(operators.Less, right, left)
	case operators.GreaterEquals:
		return compare(operators.LessEquals, right, left)
	case operators.Less:
		return func(f *Frame) Truth {
			l, okL := left(f)
			r, okR := right(f)
			return decided(l < r, okL && okR)
		}
	default:
		return func(f *Frame) Truth {
			l, okL := left(f)
			r, okR := right(f)
			return decided(l <= r, okL && okR)
		}
	}
}

// compared counts a text as read to its end, as a comparison may do.
func (s *scope) compared(e ast.Expr) text {
	value := s.text(e)
	if value == nil || e.Kind() == ast.LiteralKind {
		return value
	}
	return func(f *Frame) (string, bool) {
		v, ok := value(f)
		return v, ok && f.read(v)
	}
}

func decided(answer, ok bool) Truth {
	if !ok {
		return Undecided
	}
	return truth(answer)
}

func (s *scope) compareBools(operator string, left, right ast.Expr) boolean {
	l, r := s.tryBool(left), s.tryBool(right)
	if l == nil || r == nil || operator != operators.Equals && operator != operators.NotEquals {
		return nil
	}
	equal := operator == operators.Equals
	return func(f *Frame) Truth {
		l, r := l(f), r(f)
		return decided((l == r) == equal, l != Undecided && r != Undecided)
	}
}
