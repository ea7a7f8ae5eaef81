package schema

import (
	"encoding/json"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// reader makes CEL values of Go values of one type.
type reader struct {
	cel   *types.Type
	value func(reflect.Value) ref.Val
}

// readers read the types that have a JSON form of their own.
var readers = map[reflect.Type]reader{
	reflect.TypeFor[metav1.Time]():        {types.TimestampType, readTime},
	reflect.TypeFor[metav1.MicroTime]():   {types.TimestampType, readMicroTime},
	reflect.TypeFor[metav1.Duration]():    {types.DurationType, readDuration},
	reflect.TypeFor[resource.Quantity]():  {types.StringType, readQuantity},
	reflect.TypeFor[intstr.IntOrString](): {types.DynType, readIntOrString},
	reflect.TypeFor[[]byte]():             {types.BytesType, readBytes},
	reflect.TypeFor[map[string]string]():  {types.NewMapType(types.StringType, types.StringType), readStrings},
}

// readerOf returns the reader of a Go type; a pointer is read as what it points to. There
// is none for types with a JSON form of their own that the readers do not list.
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
		return reader{types.BoolType, readBool}, true
	case reflect.Int, reflect.Int32, reflect.Int64:
		return reader{types.IntType, readInt}, true
	case reflect.Float32, reflect.Float64:
		return reader{types.DoubleType, readFloat}, true
	case reflect.String:
		return reader{types.StringType, readString}, true
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

func readBool(v reflect.Value) ref.Val   { return types.Bool(v.Bool()) }
func readInt(v reflect.Value) ref.Val    { return types.Int(v.Int()) }
func readFloat(v reflect.Value) ref.Val  { return types.Double(v.Float()) }
func readString(v reflect.Value) ref.Val { return types.String(v.String()) }
func readBytes(v reflect.Value) ref.Val  { return types.Bytes(v.Bytes()) }

func readStrings(v reflect.Value) ref.Val {
	m, ok := reflect.TypeAssert[map[string]string](v)
	if !ok {
		return types.NewErr("no map of strings: %v", v.Type())
	}
	return types.NewStringStringMap(types.DefaultTypeAdapter, m)
}

func readTime(v reflect.Value) ref.Val {
	t, _ := reflect.TypeAssert[metav1.Time](v)
	return types.Timestamp{Time: t.Time}
}

func readMicroTime(v reflect.Value) ref.Val {
	t, _ := reflect.TypeAssert[metav1.MicroTime](v)
	return types.Timestamp{Time: t.Time}
}

func readDuration(v reflect.Value) ref.Val {
	d, _ := reflect.TypeAssert[metav1.Duration](v)
	return types.Duration{Duration: d.Duration}
}

// readQuantity takes a copy of the quantity, which keeps its string when it is asked
// for it: the object is shared with others.
func readQuantity(v reflect.Value) ref.Val {
	q, _ := reflect.TypeAssert[resource.Quantity](v)
	return types.String(q.String())
}

func readIntOrString(v reflect.Value) ref.Val {
	i, _ := reflect.TypeAssert[intstr.IntOrString](v)
	if i.Type == intstr.String {
		return types.String(i.StrVal)
	}
	return types.Int(i.IntVal)
}
