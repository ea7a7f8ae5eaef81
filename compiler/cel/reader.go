package cel

import (
	"encoding/json"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// reader converts Go values of one type to CEL values.
type reader struct {
	cel   *types.Type
	value func(reflect.Value) ref.Val
}

// readers convert the types that have a JSON form of their own. A quantity is copied, because converting it caches its string
// in the quantity, and the object is shared.
var readers = map[reflect.Type]reader{
	reflect.TypeFor[metav1.Time]():       {types.TimestampType, readAs(func(t metav1.Time) ref.Val { return types.Timestamp{Time: t.Time} })},
	reflect.TypeFor[metav1.Duration]():   {types.DurationType, readAs(func(d metav1.Duration) ref.Val { return types.Duration{Duration: d.Duration} })},
	reflect.TypeFor[resource.Quantity](): {types.StringType, readAs(func(q resource.Quantity) ref.Val { return types.String(q.String()) })},
	reflect.TypeFor[intstr.IntOrString](): {types.DynType, readAs(func(i intstr.IntOrString) ref.Val {
		if i.Type == intstr.String {
			return types.String(i.StrVal)
		}
		return types.Int(i.IntVal)
	})},
	reflect.TypeFor[[]byte](): {types.BytesType, func(v reflect.Value) ref.Val { return types.Bytes(v.Bytes()) }},
	reflect.TypeFor[map[string]string](): {types.NewMapType(types.StringType, types.StringType), readAs(func(m map[string]string) ref.Val {
		return types.NewStringStringMap(types.DefaultTypeAdapter, m)
	})},
}

// readAs adapts a function of a Go type to reflection.
func readAs[T any](read func(T) ref.Val) func(reflect.Value) ref.Val {
	return func(v reflect.Value) ref.Val {
		t, _ := reflect.TypeAssert[T](v)
		return read(t)
	}
}

// readerOf returns the reader for a Go type, or for a pointer type's element. It returns false for types with a JSON form of
// their own that readers does not list.
func (s *Schema) readerOf(t reflect.Type) (reader, bool) {
	if r, ok := readers[t]; ok {
		return r, true
	}
	if t.Kind() == reflect.Pointer {
		return s.readerOf(t.Elem())
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) {
		return reader{}, false
	}
	switch t.Kind() {
	case reflect.Bool:
		return reader{types.BoolType, func(v reflect.Value) ref.Val { return types.Bool(v.Bool()) }}, true
	case reflect.Int, reflect.Int32, reflect.Int64:
		return reader{types.IntType, func(v reflect.Value) ref.Val { return types.Int(v.Int()) }}, true
	case reflect.String:
		return reader{types.StringType, func(v reflect.Value) ref.Val { return types.String(v.String()) }}, true
	case reflect.Struct:
		return objectReader(s.structOf(t)), true
	case reflect.Slice:
		return s.listReader(t.Elem())
	case reflect.Map:
		return s.mapReader(t)
	default:
		return reader{}, false
	}
}

func objectReader(typ *Type) reader {
	return reader{typ.CEL, func(v reflect.Value) ref.Val {
		if !v.CanAddr() { // an element of a map
			c := reflect.New(v.Type())
			c.Elem().Set(v)
			v = c.Elem()
		}
		return object{typ, v.Addr().Interface()}
	}}
}

func (s *Schema) listReader(element reflect.Type) (reader, bool) {
	e, ok := s.readerOf(element)
	if !ok {
		return reader{}, false
	}
	return reader{types.NewListType(e.cel), func(v reflect.Value) ref.Val { return list{v, e} }}, true
}

func (s *Schema) mapReader(t reflect.Type) (reader, bool) {
	e, ok := s.readerOf(t.Elem())
	if !ok || t.Key().Kind() != reflect.String {
		return reader{}, false
	}
	return reader{types.NewMapType(types.StringType, e.cel), func(v reflect.Value) ref.Val { return entries{v, e} }}, true
}
