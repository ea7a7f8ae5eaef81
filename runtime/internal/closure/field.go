package closure

import (
	"reflect"

	"github.com/google/cel-go/common/ast"

	"github.com/podverdict/podverdict/compiler/cel"
)

// containerField returns a field of podverdict.Container.
func containerField(name string) (cel.RecordField[cel.Container], bool) {
	return fieldNamed(cel.ContainerFields, name)
}

func fieldNamed[T any](fields []cel.RecordField[T], name string) (cel.RecordField[T], bool) {
	for _, f := range fields {
		if f.Name == name {
			return f, true
		}
	}
	return cel.RecordField[T]{}, false
}

// condition returns the argument of pod.condition(type), or nil for any other expression.
func (s *scope) condition(e ast.Expr) text {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != cel.ConditionFunction {
		return nil
	}
	call := e.AsCall()
	if !call.IsMemberFunction() || s.variable(call.Target()) != "pod" {
		return nil
	}
	return s.text(call.Args()[0])
}

// slot returns the slot of a loop's variable.
func (s *scope) slot(e ast.Expr) (int, bool) {
	if e.Kind() != ast.IdentKind {
		return 0, false
	}
	return s.local(e.AsIdent())
}

// field compiles the selection of a field of a container or of a condition. The two functions return the reader of the right
// type.
func field[T any, F ~func(*Frame) (T, bool)](s *scope, e ast.Expr,
	ofContainer func(cel.RecordField[cel.Container]) func(cel.Container) T,
	ofCondition func(cel.RecordField[cel.Condition]) func(cel.Condition) T,
) F {
	operand, name := e.AsSelect().Operand(), e.AsSelect().FieldName()
	if isContainer(s.tree.GetType(operand.ID())) {
		f, _ := containerField(name)
		c, read := s.container(operand), ofContainer(f)
		if c == nil || read == nil {
			return nil
		}
		if slot, ok := s.slot(operand); ok {
			return func(f *Frame) (T, bool) { return read(f.locals[slot].container), true }
		}
		return func(f *Frame) (value T, ok bool) {
			c, ok := c(f)
			if !ok {
				return value, false
			}
			return read(c), true
		}
	}
	conditionType := s.condition(operand)
	if conditionType == nil {
		return nil
	}
	f, _ := fieldNamed(cel.ConditionFields, name)
	read := ofCondition(f)
	if read == nil {
		return nil
	}
	return func(f *Frame) (value T, ok bool) {
		t, ok := conditionType(f)
		if !ok || !f.look(len(f.Pod.Status.Conditions)) {
			return value, false
		}
		return read(cel.ConditionOf(f.Pod, t)), true
	}
}

func (s *scope) textField(e ast.Expr) text {
	if e.AsSelect().IsTestOnly() {
		return nil
	}
	return field[string, text](s, e,
		func(f cel.RecordField[cel.Container]) func(cel.Container) string { return f.String },
		func(f cel.RecordField[cel.Condition]) func(cel.Condition) string { return f.String })
}

func (s *scope) integerField(e ast.Expr) integer {
	if e.AsSelect().IsTestOnly() {
		return nil
	}
	return field[int64, integer](s, e,
		func(f cel.RecordField[cel.Container]) func(cel.Container) int64 { return f.Int },
		func(f cel.RecordField[cel.Condition]) func(cel.Condition) int64 { return f.Int })
}

// boolField compiles the selection of a bool, or has().
func (s *scope) boolField(e ast.Expr) boolean {
	if e.AsSelect().IsTestOnly() {
		return s.has(e.AsSelect().Operand(), e.AsSelect().FieldName())
	}
	value := field[bool, func(*Frame) (bool, bool)](s, e,
		func(f cel.RecordField[cel.Container]) func(cel.Container) bool { return f.Bool },
		func(f cel.RecordField[cel.Condition]) func(cel.Condition) bool { return f.Bool })
	if value != nil {
		return func(f *Frame) Truth { return decided(value(f)) }
	}
	p := s.path(e)
	if p == nil || p.goType == nil || p.goType.Kind() != reflect.Bool {
		return nil
	}
	return func(f *Frame) Truth {
		v, found := p.follow(f)
		return decided(found == present && v.Bool(), found == present)
	}
}

func (s *scope) boolOrValue(call ast.CallExpr) boolean {
	if !call.IsMemberFunction() {
		return nil
	}
	p, otherwise := s.path(call.Target()), s.tryBool(call.Args()[0])
	if p == nil || otherwise == nil || p.goType == nil || p.goType.Kind() != reflect.Bool {
		return nil
	}
	return func(f *Frame) Truth {
		switch v, found := p.follow(f); found {
		case present:
			return truth(v.Bool())
		case none:
			return otherwise(f)
		default:
			return Undecided
		}
	}
}
