package closure

import (
	"reflect"
	"strconv"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/compiler/cel"
)

// text compiles an expression of type string.
func (s *scope) text(e ast.Expr) text {
	if s.kind(e) != types.StringKind {
		return nil
	}
	switch e.Kind() {
	case ast.LiteralKind:
		return literalText(e)
	case ast.IdentKind:
		return s.variables[s.variable(e)].String
	case ast.SelectKind:
		if t := s.textField(e); t != nil {
			return t
		}
		return s.textPath(e)
	case ast.CallKind:
		return s.textCall(e)
	default:
		return nil
	}
}

func (s *scope) textCall(e ast.Expr) text {
	call := e.AsCall()
	switch args := call.Args(); call.FunctionName() {
	case operators.Add:
		return concatenated(s.text(args[0]), s.text(args[1]))
	case operators.Conditional:
		return chosen(s.bool(args[0]), s.text(args[1]), s.text(args[2]))
	case operators.Index:
		return s.textPath(e)
	case "string":
		if i := s.integer(args[0]); i != nil {
			return func(f *Frame) (string, bool) {
				v, ok := i(f)
				return strconv.FormatInt(v, 10), ok
			}
		}
	case "orValue":
		return s.textOrValue(call)
	case cel.LabelFunction:
		return s.nodeLabel(call)
	}
	return nil
}

func concatenated(left, right text) text {
	if left == nil || right == nil {
		return nil
	}
	return func(f *Frame) (string, bool) {
		l, ok := left(f)
		if !ok {
			return "", false
		}
		r, ok := right(f)
		if !ok || !f.read(l) || !f.read(r) {
			return "", false
		}
		return l + r, true
	}
}

// chosen compiles the operator ?: for numbers and strings.
func chosen[T any, F ~func(*Frame) (T, bool)](condition boolean, yes, no F) F {
	if yes == nil || no == nil {
		return nil
	}
	return func(f *Frame) (value T, ok bool) {
		switch condition(f) {
		case Yes:
			return yes(f)
		case No:
			return no(f)
		default:
			return value, false
		}
	}
}

// textPath compiles a field of pod or job, or an entry of a map in them, that must be present.
func (s *scope) textPath(e ast.Expr) text {
	value := s.textAt(e)
	if value == nil {
		return nil
	}
	return func(f *Frame) (string, bool) {
		v, p := value(f)
		return v, p == present
	}
}

// textOrValue compiles the method orValue of an optional string.
func (s *scope) textOrValue(call ast.CallExpr) text {
	if !call.IsMemberFunction() {
		return nil
	}
	value, otherwise := s.textAt(call.Target()), s.text(call.Args()[0])
	if value == nil || otherwise == nil {
		return nil
	}
	return func(f *Frame) (string, bool) {
		v, p := value(f)
		if p == none {
			return otherwise(f)
		}
		return v, p == present
	}
}

// textAt compiles a string in pod or job. Its closure also returns the presence.
func (s *scope) textAt(e ast.Expr) func(*Frame) (string, presence) {
	if entry := s.entry(e); entry != nil {
		return entry
	}
	p := s.path(e)
	if p == nil || p.goType == nil || p.goType.Kind() != reflect.String {
		return nil
	}
	return func(f *Frame) (string, presence) {
		v, found := p.follow(f)
		if found != present {
			return "", found
		}
		return v.String(), present
	}
}

// entry compiles an entry of a map of strings: m.key, m['key'] and the optional forms.
func (s *scope) entry(e ast.Expr) func(*Frame) (string, presence) {
	object, key, optional := s.entryOf(e)
	if object == nil || key == nil {
		return nil
	}
	missing := absent
	if optional || object.optional {
		missing = none
	}
	return func(f *Frame) (string, presence) {
		v, found := object.follow(f)
		if found != present {
			return "", found
		}
		k, ok := key(f)
		if !ok || !f.read(k) {
			return "", absent
		}
		value, ok := stringMap(v)[k]
		if !ok {
			return "", missing
		}
		return value, present
	}
}

func (s *scope) entryOf(e ast.Expr) (object *path, key text, optional bool) {
	var operand, name ast.Expr
	switch e.Kind() {
	case ast.SelectKind:
		if e.AsSelect().IsTestOnly() {
			return nil, nil, false
		}
		field := e.AsSelect().FieldName()
		operand, key = e.AsSelect().Operand(), func(*Frame) (string, bool) { return field, true }
	case ast.CallKind:
		switch e.AsCall().FunctionName() {
		case operators.Index:
		case operators.OptIndex, operators.OptSelect:
			optional = true
		default:
			return nil, nil, false
		}
		operand, name = e.AsCall().Args()[0], e.AsCall().Args()[1]
	default:
		return nil, nil, false
	}
	object = s.path(operand)
	if object == nil || !object.isStringMap() {
		return nil, nil, false
	}
	if name != nil {
		key = s.key(name)
	}
	return object, key, optional
}

// key compiles the key of an entry. The field name after .? is a literal without a type of its own.
func (s *scope) key(e ast.Expr) text {
	if e.Kind() == ast.LiteralKind {
		return literalText(e)
	}
	return s.text(e)
}

func literalText(e ast.Expr) text {
	value, ok := literal[types.String](e)
	if !ok {
		return nil
	}
	return func(*Frame) (string, bool) { return string(value), true }
}

// inMap compiles the operator in for a map of strings.
func (s *scope) inMap(element, collection ast.Expr) boolean {
	object, key := s.path(collection), s.text(element)
	if object == nil || key == nil || object.optional || !object.isStringMap() {
		return nil
	}
	return func(f *Frame) Truth {
		v, p := object.follow(f)
		k, ok := key(f)
		if !ok || p != present || !f.read(k) {
			return Undecided
		}
		_, found := stringMap(v)[k]
		return truth(found)
	}
}
