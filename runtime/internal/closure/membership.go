package closure

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/compiler/cel"
)

// in compiles the operator in for a list of literals, a map of strings, or the containers' waiting reasons.
func (s *scope) in(element, collection ast.Expr) boolean {
	switch {
	case collection.Kind() == ast.ListKind:
		return s.inList(element, collection)
	case s.kind(collection) == types.MapKind:
		return s.inMap(element, collection)
	case s.isWaitingReasons(collection):
		reason := s.text(element)
		if reason == nil {
			return nil
		}
		return func(f *Frame) Truth {
			r, ok := reason(f)
			ok = ok && f.look(cel.Count(f.Pod))
			return decided(ok && cel.HasWaitingReason(f.Pod, r), ok)
		}
	default:
		return nil
	}
}

func (s *scope) isWaitingReasons(e ast.Expr) bool {
	return e.Kind() == ast.CallKind && e.AsCall().FunctionName() == cel.WaitingReasonsFunction &&
		e.AsCall().IsMemberFunction() && s.variable(e.AsCall().Target()) == "pod"
}

func (s *scope) inList(element, list ast.Expr) boolean {
	switch s.kind(element) {
	case types.IntKind:
		values, ok := literals[types.Int](list)
		i := s.integer(element)
		if !ok || i == nil {
			return nil
		}
		return inInts(i, newIntSet(values))
	case types.StringKind:
		values, ok := literals[types.String](list)
		t := s.text(element)
		if !ok || t == nil {
			return nil
		}
		return inTexts(t, values)
	default:
		return nil
	}
}

func inInts(value integer, set intSet) boolean {
	return func(f *Frame) Truth {
		v, ok := value(f)
		return decided(ok && set.has(v), ok)
	}
}

// fewTexts is the number of strings up to which comparing is faster than a map lookup.
const fewTexts = 8

func inTexts(value text, list []types.String) boolean {
	texts := make([]string, len(list))
	set := make(map[string]bool, len(list))
	for i, v := range list {
		texts[i], set[string(v)] = string(v), true
	}
	if len(list) <= fewTexts {
		return func(f *Frame) Truth {
			v, ok := value(f)
			return decided(ok && slices.Contains(texts, v), ok)
		}
	}
	return func(f *Frame) Truth {
		v, ok := value(f)
		ok = ok && f.read(v)
		return decided(ok && set[v], ok)
	}
}

// literal returns the value of a literal of one type.
func literal[T any](e ast.Expr) (value T, ok bool) {
	if e.Kind() != ast.LiteralKind {
		return value, false
	}
	value, ok = e.AsLiteral().(T)
	return value, ok
}

// literals returns the elements of a list that has only literals of one type.
func literals[T any](list ast.Expr) ([]T, bool) {
	if list.Kind() != ast.ListKind || len(list.AsList().OptionalIndices()) > 0 {
		return nil, false
	}
	values := make([]T, list.AsList().Size())
	for i, e := range list.AsList().Elements() {
		value, ok := literal[T](e)
		if !ok {
			return nil, false
		}
		values[i] = value
	}
	return values, true
}
