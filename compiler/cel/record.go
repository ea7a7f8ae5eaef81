package cel

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// newRecordType returns the library type for the Go type T.
func newRecordType[T any](name string, fields []RecordField[T]) *Type {
	t := &Type{Name: name, CEL: types.NewObjectType(name), byName: map[string]*Field{}}
	for _, f := range fields {
		field := &Field{Name: f.Name, Type: f.Type(), cel: &types.FieldType{
			Type:  f.Type(),
			IsSet: func(any) bool { return true },
			GetFrom: func(of any) (any, error) {
				value, ok := of.(T)
				if !ok {
					return nil, fmt.Errorf("no such field: %T is no %s", of, name)
				}
				return f.value(value), nil
			},
		}}
		t.Fields, t.byName[f.Name] = append(t.Fields, field), field
	}
	return t
}

// The library's types.
var (
	containerType = newRecordType(ContainerName, ContainerFields)
	conditionType = newRecordType(ConditionName, ConditionFields)
	attemptType   = newRecordType(AttemptName, AttemptFields)
	recordTypes   = map[string]*Type{ContainerName: containerType, ConditionName: conditionType, AttemptName: attemptType}
)

// record is a CEL value of a library type.
type record struct {
	typ   *Type
	value any // Container, Condition or Attempt
}

func (r record) Type() ref.Type { return r.typ.CEL }

func (r record) Value() any { return r.value }

func (r record) IsSet(name ref.Val) ref.Val {
	if value := r.Get(name); types.IsError(value) {
		return value
	}
	return types.True
}

func (r record) Get(name ref.Val) ref.Val {
	if s, ok := name.(types.String); ok {
		if _, ok := r.typ.byName[string(s)]; ok {
			return r.get(string(s))
		}
	}
	return types.NewErr("no such field %v in %s", name, r.typ.Name)
}

// get returns the value of a field of the type.
func (r record) get(field string) ref.Val {
	value, err := r.typ.byName[field].cel.GetFrom(r.value)
	if err != nil {
		return types.WrapErr(err)
	}
	return types.DefaultTypeAdapter.NativeToValue(value)
}

// Equal reports whether all fields are equal.
func (r record) Equal(other ref.Val) ref.Val {
	o, ok := other.(record)
	if !ok || o.typ != r.typ {
		return types.False
	}
	if o.value == r.value {
		return types.True
	}
	for field := range r.typ.byName {
		if r.get(field).Equal(o.get(field)) != types.True {
			return types.False
		}
	}
	return types.True
}

func (r record) ConvertToNative(t reflect.Type) (any, error) {
	if reflect.TypeOf(r.value).AssignableTo(t) {
		return r.value, nil
	}
	return nil, fmt.Errorf("type conversion error from %s to %s", r.typ.Name, t)
}

func (r record) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case r.typ.CEL:
		return r
	case types.TypeType:
		return r.typ.CEL
	default:
		return types.NewErr("type conversion error from %s to %s", r.typ.Name, t.TypeName())
	}
}
