package closure

import (
	"reflect"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/compiler/cel"
)

// presence is the result of a selection.
type presence uint8

const (
	present presence = iota
	// none means an empty optional.
	none
	// absent means CEL's error "no such key".
	absent
)

// path is a selection from pod, job or node.
type path struct {
	follow func(*Frame) (reflect.Value, presence)
	// typ and goType are the type of the value, without optional and pointer.
	typ      *types.Type
	goType   reflect.Type
	optional bool
}

func (s *scope) path(e ast.Expr) *path {
	switch e.Kind() {
	case ast.IdentKind:
		if slot, ok := s.slot(e); ok {
			return s.localRoot(slot, s.tree.GetType(e.ID()))
		}
		return s.root(s.variable(e))
	case ast.SelectKind:
		if !e.AsSelect().IsTestOnly() {
			return s.selection(e.AsSelect().Operand(), e.AsSelect().FieldName(), false)
		}
	case ast.CallKind:
		if args := e.AsCall().Args(); e.AsCall().FunctionName() == operators.OptSelect {
			if name, ok := literal[types.String](args[1]); ok {
				return s.selection(args[0], string(name), true)
			}
		}
	default:
	}
	return nil
}

func (s *scope) root(name string) *path {
	switch name {
	case "pod":
		return &path{typ: s.schema.Pod.CEL, follow: func(f *Frame) (reflect.Value, presence) {
			return reflect.ValueOf(f.Pod).Elem(), present
		}}
	case "job":
		return &path{typ: s.schema.Job.CEL, follow: func(f *Frame) (reflect.Value, presence) {
			return reflect.ValueOf(f.Job).Elem(), present
		}}
	case "node":
		return &path{typ: s.schema.Node.CEL, optional: true, follow: func(f *Frame) (reflect.Value, presence) {
			if f.Node == nil {
				return reflect.Value{}, none
			}
			return reflect.ValueOf(f.Node).Elem(), present
		}}
	default:
		return nil
	}
}

// localRoot returns the path for a loop's variable, over container statuses or conditions.
func (s *scope) localRoot(slot int, t *types.Type) *path {
	switch t.TypeName() {
	case "ContainerStatus":
		return &path{typ: t, follow: func(f *Frame) (reflect.Value, presence) {
			return reflect.ValueOf(f.locals[slot].container.Status).Elem(), present
		}}
	case "PodCondition":
		return &path{typ: t, follow: func(f *Frame) (reflect.Value, presence) {
			return reflect.ValueOf(f.locals[slot].condition).Elem(), present
		}}
	default:
		return nil
	}
}

// selection compiles the selection of a field of an object. A selection from an optional one is optional too.
func (s *scope) selection(operand ast.Expr, name string, optional bool) *path {
	object, field := s.fieldOf(operand, name)
	if field == nil || field.Constant() != nil {
		return nil
	}
	missing := absent
	if optional || object.optional {
		missing = none
	}
	follow := object.follow
	return &path{typ: field.Type, goType: field.Go, optional: missing == none, follow: func(f *Frame) (reflect.Value, presence) {
		v, p := follow(f)
		if p != present {
			return v, p
		}
		v, ok := field.Of(v)
		if !ok {
			return v, missing
		}
		return v, present
	}}
}

func (s *scope) fieldOf(operand ast.Expr, name string) (*path, *cel.Field) {
	object := s.path(operand)
	if object == nil || object.typ.Kind() != types.StructKind {
		return nil, nil
	}
	typ, ok := s.schema.Type(object.typ.TypeName())
	if !ok {
		return nil, nil
	}
	field, ok := typ.Field(name)
	if !ok {
		return nil, nil
	}
	return object, field
}

// has compiles a has() macro for a field or for a key in a map of strings.
func (s *scope) has(operand ast.Expr, name string) boolean {
	if object := s.path(operand); object != nil && object.isStringMap() {
		if object.optional {
			return nil
		}
		return has(object.follow, func(v reflect.Value) bool {
			_, ok := stringMap(v)[name]
			return ok
		})
	}
	object, field := s.fieldOf(operand, name)
	if field == nil || field.Constant() != nil || object.optional {
		return nil
	}
	return has(object.follow, func(v reflect.Value) bool {
		_, ok := field.Of(v)
		return ok
	})
}

func has(follow func(*Frame) (reflect.Value, presence), test func(reflect.Value) bool) boolean {
	return func(f *Frame) Truth {
		v, p := follow(f)
		if p != present {
			return Undecided
		}
		return truth(test(v))
	}
}

// hasValue compiles the method hasValue of an optional.
func (s *scope) hasValue(call ast.CallExpr) boolean {
	if !call.IsMemberFunction() {
		return nil
	}
	if entry := s.entry(call.Target()); entry != nil {
		return func(f *Frame) Truth {
			_, p := entry(f)
			return decided(p == present, p != absent)
		}
	}
	p := s.path(call.Target())
	if p == nil || !p.optional {
		return nil
	}
	return func(f *Frame) Truth {
		_, found := p.follow(f)
		return decided(found == present, found != absent)
	}
}

// isStringMap reports whether the Go type is a map of strings. Other maps, such as those of quantities, only look like one in
// CEL.
func (p *path) isStringMap() bool { return p.goType == reflect.TypeFor[map[string]string]() }

// stringMap returns the map of a value. It does not allocate, because a map is a pointer.
func stringMap(v reflect.Value) map[string]string {
	m, _ := reflect.TypeAssert[map[string]string](v)
	return m
}

// pathFrom returns the chain of fields selected from a variable, and reports whether any selection is optional.
func pathFrom(e ast.Expr, variable string) (fields []string, optional, ok bool) {
	switch e.Kind() {
	case ast.IdentKind:
		return nil, false, e.AsIdent() == variable
	case ast.SelectKind:
		fields, optional, ok = pathFrom(e.AsSelect().Operand(), variable)
		return append(fields, e.AsSelect().FieldName()), optional, ok && !e.AsSelect().IsTestOnly()
	case ast.CallKind:
		if e.AsCall().FunctionName() == operators.OptSelect {
			name, isName := literal[types.String](e.AsCall().Args()[1])
			fields, _, ok = pathFrom(e.AsCall().Args()[0], variable)
			return append(fields, string(name)), true, ok && isName
		}
	default:
	}
	return nil, false, false
}

// orValue returns the parts of optional.orValue(otherwise).
func orValue(e ast.Expr) (optional, otherwise ast.Expr, ok bool) {
	if e.Kind() != ast.CallKind || !e.AsCall().IsMemberFunction() || e.AsCall().FunctionName() != "orValue" {
		return nil, nil, false
	}
	return e.AsCall().Target(), e.AsCall().Args()[0], true
}
