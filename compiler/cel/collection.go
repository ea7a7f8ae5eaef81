package cel

import (
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// list is a list in an object. It converts elements on demand, so that selecting a list takes constant time.
type list struct {
	values  reflect.Value
	element reader
}

// whole converts all elements, in linear time.
func (l list) whole() traits.Lister {
	values := make([]ref.Val, l.values.Len())
	for i := range values {
		values[i] = l.at(i)
	}
	return types.NewRefValList(types.DefaultTypeAdapter, values)
}

func (l list) at(i int) ref.Val { return l.element.value(reflect.Indirect(l.values.Index(i))) }

func (l list) Type() ref.Type { return types.ListType }

func (l list) Value() any { return l.values.Interface() }

func (l list) Size() ref.Val { return types.Int(l.values.Len()) }

func (l list) Get(index ref.Val) ref.Val {
	i, err := types.IndexOrError(index)
	switch {
	case err != nil:
		return types.WrapErr(err)
	case i < 0 || i >= l.values.Len():
		return types.NewErr("index '%d' out of range in list size '%d'", i, l.values.Len())
	default:
		return l.at(i)
	}
}

func (l list) Iterator() traits.Iterator { return &iterator{list: l} }

func (l list) Contains(value ref.Val) ref.Val { return l.whole().Contains(value) }

func (l list) Add(other ref.Val) ref.Val { return l.whole().Add(other) }

func (l list) Equal(other ref.Val) ref.Val { return l.whole().Equal(other) }

func (l list) ConvertToType(t ref.Type) ref.Val { return l.whole().ConvertToType(t) }

func (l list) ConvertToNative(t reflect.Type) (any, error) { return l.whole().ConvertToNative(t) }

// iterator iterates over a list. It implements ref.Val only because CEL requires it.
type iterator struct {
	ref.Val

	list list
	next int
}

func (i *iterator) HasNext() ref.Val { return types.Bool(i.next < i.list.values.Len()) }

func (i *iterator) Next() ref.Val {
	i.next++
	return i.list.at(i.next - 1)
}

// entries is a map in an object, with string keys. It converts values on demand.
type entries struct {
	values  reflect.Value
	element reader
}

// whole converts all entries, in linear time.
func (e entries) whole() traits.Mapper {
	values := make(map[ref.Val]ref.Val, e.values.Len())
	for each := e.values.MapRange(); each.Next(); {
		values[types.String(each.Key().String())] = e.element.value(reflect.Indirect(each.Value()))
	}
	return types.NewRefValMap(types.DefaultTypeAdapter, values)
}

func (e entries) Type() ref.Type { return types.MapType }

func (e entries) Value() any { return e.whole().Value() }

func (e entries) Size() ref.Val { return types.Int(e.values.Len()) }

func (e entries) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return nil, false
	}
	value := e.values.MapIndex(reflect.ValueOf(string(name)).Convert(e.values.Type().Key()))
	if !value.IsValid() {
		return nil, false
	}
	return e.element.value(reflect.Indirect(value)), true
}

func (e entries) Get(key ref.Val) ref.Val {
	if value, found := e.Find(key); found {
		return value
	}
	return types.NewErr("no such key: %v", key)
}

func (e entries) Contains(key ref.Val) ref.Val {
	_, found := e.Find(key)
	return types.Bool(found)
}

func (e entries) Iterator() traits.Iterator { return e.whole().Iterator() }

func (e entries) Equal(other ref.Val) ref.Val { return e.whole().Equal(other) }

func (e entries) ConvertToType(t ref.Type) ref.Val { return e.whole().ConvertToType(t) }

func (e entries) ConvertToNative(t reflect.Type) (any, error) { return e.whole().ConvertToNative(t) }

// Weight returns the number of fields, entries and pieces of text in a value of the schema, and 1 for any other value. It is
// roughly proportional to the time that comparing the value takes.
func Weight(v ref.Val) uint64 {
	switch v := v.(type) {
	case object:
		return weight(reflect.ValueOf(v.pointer))
	case list:
		return weight(v.values)
	case entries:
		return weight(v.values)
	default:
		return 1
	}
}

// piece is the number of bytes of text that count as much as a field.
const piece = 64

func weight(v reflect.Value) uint64 {
	sum := uint64(1)
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			sum = weight(v.Elem())
		}
	case reflect.String:
		sum += uint64(v.Len() / piece) //nolint:gosec // a length is not negative
	case reflect.Struct:
		for i := range v.NumField() { //nolint:modernize // Fields allocates
			if !v.Field(i).IsZero() {
				sum += weight(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			sum += weight(v.Index(i))
		}
	case reflect.Map:
		for each := v.MapRange(); each.Next(); {
			sum += weight(each.Key()) + weight(each.Value())
		}
	default:
	}
	return sum
}
