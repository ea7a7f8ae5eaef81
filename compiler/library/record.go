package library

import (
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// recordType is a type of the library as CEL sees it.
type recordType[T comparable] struct {
	cel    *types.Type
	names  []string
	fields map[string]Field[T]
	// field types by name, for cel-go.
	types map[string]*types.FieldType
}

func newRecordType[T comparable](name string, fields []Field[T]) *recordType[T] {
	r := &recordType[T]{cel: types.NewObjectType(name), fields: map[string]Field[T]{}, types: map[string]*types.FieldType{}}
	for _, f := range fields {
		r.names = append(r.names, f.Name)
		r.fields[f.Name] = f
		r.types[f.Name] = &types.FieldType{
			Type:  f.Type(),
			IsSet: func(any) bool { return true },
			GetFrom: func(of any) (any, error) {
				value, ok := of.(T)
				if !ok {
					return nil, errNoRecord(name, of)
				}
				return f.value(value), nil
			},
		}
	}
	return r
}

// The library's types.
var (
	containerType = newRecordType(ContainerName, ContainerFields)
	conditionType = newRecordType(ConditionName, ConditionFields)
)

// record is a value of the library as a CEL value.
type record[T comparable] struct {
	typ   *recordType[T]
	value T
}

func (r record[T]) Type() ref.Type { return r.typ.cel }

func (r record[T]) Value() any { return r.value }

func (r record[T]) IsSet(name ref.Val) ref.Val {
	if _, err := r.field(name); err != nil {
		return types.WrapErr(err)
	}
	return types.True
}

func (r record[T]) Get(name ref.Val) ref.Val {
	f, err := r.field(name)
	if err != nil {
		return types.WrapErr(err)
	}
	return f.value(r.value)
}

func (r record[T]) field(name ref.Val) (Field[T], error) {
	if s, ok := name.(types.String); ok {
		if f, ok := r.typ.fields[string(s)]; ok {
			return f, nil
		}
	}
	return Field[T]{}, errNoField(r.typ.cel, name)
}

// Equal is whether all fields are equal.
func (r record[T]) Equal(other ref.Val) ref.Val {
	o, ok := other.(record[T])
	if !ok {
		return types.False
	}
	if o.value == r.value {
		return types.True
	}
	for _, f := range r.typ.fields {
		if f.value(r.value) != f.value(o.value) {
			return types.False
		}
	}
	return types.True
}

func (r record[T]) ConvertToNative(t reflect.Type) (any, error) {
	if reflect.TypeFor[T]().AssignableTo(t) {
		return r.value, nil
	}
	return nil, errNoConversion(r.typ.cel, t.String())
}

func (r record[T]) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case r.typ.cel:
		return r
	case types.TypeType:
		return r.typ.cel
	default:
		return types.WrapErr(errNoConversion(r.typ.cel, t.TypeName()))
	}
}
