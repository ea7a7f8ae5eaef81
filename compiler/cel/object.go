package cel

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
)

// object is a part of a Pod, Job or Node as a CEL value. Its Value is a pointer to that part.
type object struct {
	typ     *Type
	pointer any
}

func (o object) Type() ref.Type { return o.typ.CEL }

func (o object) Value() any { return o.pointer }

// IsSet and Get implement selections that CEL resolves at evaluation, such as dyn(pod).status.

func (o object) IsSet(name ref.Val) ref.Val {
	f, err := o.field(name)
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Bool(f.isSet(o.pointer))
}

func (o object) Get(name ref.Val) ref.Val {
	f, err := o.field(name)
	if err != nil {
		return types.WrapErr(err)
	}
	value, err := f.getFrom(o.pointer)
	if err != nil {
		return types.WrapErr(err)
	}
	return types.DefaultTypeAdapter.NativeToValue(value)
}

func (o object) field(name ref.Val) (*Field, error) {
	if s, ok := name.(types.String); ok {
		if f, ok := o.typ.Field(string(s)); ok {
			return f, nil
		}
	}
	return nil, fmt.Errorf("no such field %v in %s", name, o.typ.Name)
}

// Equal compares like JSON: a nil list equals an empty one.
func (o object) Equal(other ref.Val) ref.Val {
	p, ok := other.(object)
	return types.Bool(ok && o.typ == p.typ && apiequality.Semantic.DeepEqual(o.pointer, p.pointer))
}

func (o object) ConvertToNative(t reflect.Type) (any, error) {
	if reflect.TypeOf(o.pointer).AssignableTo(t) {
		return o.pointer, nil
	}
	return nil, fmt.Errorf("type conversion error from %s to %s", o.typ.Name, t)
}

func (o object) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case o.typ.CEL:
		return o
	case types.TypeType:
		return o.typ.CEL
	default:
		return types.NewErr("type conversion error from %s to %s", o.typ.Name, t.TypeName())
	}
}
