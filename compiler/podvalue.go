package compiler

import (
	"maps"
	"reflect"
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	corev1 "k8s.io/api/core/v1"
)

// podProvider adds the pod's types to those of an environment.
type podProvider struct{ types.Provider }

func (p podProvider) FindStructType(name string) (*types.Type, bool) {
	if _, ok := podFields[name]; ok {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

func (p podProvider) FindStructFieldNames(name string) ([]string, bool) {
	if fields, ok := podFields[name]; ok {
		return slices.Sorted(maps.Keys(fields)), true
	}
	return p.Provider.FindStructFieldNames(name)
}

func (p podProvider) FindStructFieldType(name, fieldName string) (*types.FieldType, bool) {
	if fields, ok := podFields[name]; ok {
		f, ok := fields[fieldName]
		return f, ok
	}
	return p.Provider.FindStructFieldType(name, fieldName)
}

// podAdapter makes CEL values of the pod's parts, by reference.
type podAdapter struct{ types.Adapter }

func (a podAdapter) NativeToValue(value any) ref.Val {
	switch v := value.(type) {
	case *corev1.Pod:
		return object{podType, v}
	case *corev1.PodStatus:
		return object{statusType, v}
	case *corev1.ContainerState:
		return object{stateType, v}
	case *corev1.ContainerStateTerminated:
		return object{terminatedType, v}
	default:
		return a.Adapter.NativeToValue(value)
	}
}

// object is a part of a pod as a CEL value. Its Value is a pointer into the pod.
type object struct {
	typ     *types.Type
	pointer any
}

func (o object) Type() ref.Type { return o.typ }

func (o object) Value() any { return o.pointer }

// IsSet and Get serve optional selection, as in pod.?status.

func (o object) IsSet(name ref.Val) ref.Val {
	f, err := o.field(name)
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Bool(f.IsSet(o.pointer))
}

func (o object) Get(name ref.Val) ref.Val {
	f, err := o.field(name)
	if err != nil {
		return types.WrapErr(err)
	}
	value, err := f.GetFrom(o.pointer)
	if err != nil {
		return types.WrapErr(err)
	}
	return podAdapter{types.DefaultTypeAdapter}.NativeToValue(value)
}

func (o object) field(name ref.Val) (*types.FieldType, error) {
	s, ok := name.(types.String)
	if !ok {
		return nil, errNoField(o.typ, name)
	}
	f, ok := podFields[o.typ.TypeName()][string(s)]
	if !ok {
		return nil, errNoField(o.typ, name)
	}
	return f, nil
}

func (o object) Equal(other ref.Val) ref.Val {
	return types.Bool(reflect.DeepEqual(o.pointer, other.Value()))
}

func (o object) ConvertToNative(t reflect.Type) (any, error) {
	if reflect.TypeOf(o.pointer).AssignableTo(t) {
		return o.pointer, nil
	}
	return nil, errNoConversion(o.typ, t.String())
}

func (o object) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case o.typ:
		return o
	case types.TypeType:
		return o.typ
	default:
		return types.WrapErr(errNoConversion(o.typ, t.TypeName()))
	}
}

func objectList[T any](t *types.Type, items []T) traits.Lister {
	values := make([]ref.Val, len(items))
	for i := range items {
		values[i] = object{t, &items[i]}
	}
	return types.NewRefValList(types.DefaultTypeAdapter, values)
}
