package closure

import (
	"reflect"
	"time"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/compiler/cel"
)

// integer compiles an expression of type int.
func (s *scope) integer(e ast.Expr) integer {
	if s.kind(e) != types.IntKind {
		return nil
	}
	switch e.Kind() {
	case ast.LiteralKind:
		value, ok := literal[types.Int](e)
		if !ok {
			return nil
		}
		return func(*Frame) (int64, bool) { return int64(value), true }
	case ast.IdentKind:
		if s.variable(e) == "attempt" {
			return func(f *Frame) (int64, bool) { return f.Attempt, true }
		}
		return s.variables[s.variable(e)].integer
	case ast.SelectKind:
		if i := s.integerField(e); i != nil {
			return i
		}
		return s.integerPath(e)
	case ast.CallKind:
		return s.integerCall(e.AsCall())
	default:
		return nil
	}
}

func (s *scope) integerCall(call ast.CallExpr) integer {
	switch args := call.Args(); call.FunctionName() {
	case operators.Conditional:
		return chosen(s.bool(args[0]), s.integer(args[1]), s.integer(args[2]))
	case "size":
		list := call.Target()
		if !call.IsMemberFunction() {
			list = args[0]
		}
		if l := s.elements(list); l != nil {
			return l.size
		}
	case "orValue":
		return s.integerOrValue(call)
	case cel.RestartsFunction:
		if s.variable(call.Target()) == "pod" {
			return func(f *Frame) (int64, bool) { return cel.Restarts(f.Pod), f.look(cel.Count(f.Pod)) }
		}
	}
	return nil
}

func (s *scope) integerPath(e ast.Expr) integer {
	p := s.path(e)
	if p == nil || !isInteger(p.goType) {
		return nil
	}
	return func(f *Frame) (int64, bool) {
		v, found := p.follow(f)
		if found != present {
			return 0, false
		}
		return v.Int(), true
	}
}

func (s *scope) integerOrValue(call ast.CallExpr) integer {
	if !call.IsMemberFunction() {
		return nil
	}
	p, otherwise := s.path(call.Target()), s.integer(call.Args()[0])
	if p == nil || otherwise == nil || !isInteger(p.goType) {
		return nil
	}
	return func(f *Frame) (int64, bool) {
		switch v, found := p.follow(f); found {
		case present:
			return v.Int(), true
		case none:
			return otherwise(f)
		default:
			return 0, false
		}
	}
}

func isInteger(t reflect.Type) bool {
	return t != nil && (t.Kind() == reflect.Int32 || t.Kind() == reflect.Int64)
}

// duration compiles an expression of type duration: a literal, or an age of the pod.
func (s *scope) duration(e ast.Expr) duration {
	if e.Kind() != ast.CallKind || s.kind(e) != types.DurationKind {
		return nil
	}
	call := e.AsCall()
	args := call.Args()
	switch call.FunctionName() {
	case "duration":
		if args[0].Kind() != ast.LiteralKind {
			return nil
		}
		d, ok := args[0].AsLiteral().ConvertToType(types.DurationType).(types.Duration)
		if !ok {
			return nil
		}
		return func(*Frame) (int64, bool) { return int64(d.Duration), true }
	default:
		age, found := cel.Ages[call.FunctionName()]
		if found && call.IsMemberFunction() && s.variable(call.Target()) == "pod" && s.variable(args[0]) == "now" {
			return func(f *Frame) (int64, bool) { return int64(age.Of(f.Pod, f.Now) / time.Nanosecond), true }
		}
	}
	return nil
}
