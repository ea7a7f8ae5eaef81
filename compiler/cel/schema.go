package cel

import (
	"cmp"
	"reflect"
	"slices"
	"sync"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Schema holds every type that is reachable from a Pod, a Job or a Node. It is immutable.
type Schema struct {
	Pod, Job, Node *Type

	byName map[string]*Type
	byGo   map[reflect.Type]*Type
}

// Type is the type of an object, with the name of its Go type, such as PodStatus.
type Type struct {
	Name string
	// CEL is the CEL type.
	CEL *types.Type
	// Fields are sorted by name.
	Fields []*Field

	goType reflect.Type
	byName map[string]*Field
}

// Load returns the schema. The first call computes it, in about a millisecond.
func Load() *Schema { return load() }

var load = sync.OnceValue(func() *Schema {
	s := &Schema{byName: map[string]*Type{}, byGo: map[reflect.Type]*Type{}}
	s.Pod = s.root(reflect.TypeFor[corev1.Pod](), "v1")
	s.Job = s.root(reflect.TypeFor[batchv1.Job](), "batch/v1")
	s.Node = s.root(reflect.TypeFor[corev1.Node](), "v1")
	return s
})

// Type returns the named type.
func (s *Schema) Type(name string) (*Type, bool) {
	t, ok := s.byName[name]
	return t, ok
}

// Value returns a CEL value for the object that a pointer points to.
func (s *Schema) Value(pointer any) (ref.Val, bool) {
	t := reflect.TypeOf(pointer)
	if t == nil || t.Kind() != reflect.Pointer {
		return nil, false
	}
	typ, ok := s.byGo[t.Elem()]
	if !ok {
		return nil, false
	}
	if reflect.ValueOf(pointer).IsNil() {
		return types.NullValue, true
	}
	return object{typ, pointer}, true
}

// root returns the type of a whole object. Its apiVersion and kind are constants, because typed objects often leave them empty.
func (s *Schema) root(t reflect.Type, version string) *Type {
	typ := s.structOf(t)
	typ.byName["apiVersion"].constant = types.String(version)
	typ.byName["kind"].constant = types.String(typ.Name)
	return typ
}

// structOf returns the type of a Go struct, and creates it on the first call.
func (s *Schema) structOf(t reflect.Type) *Type {
	if typ, ok := s.byGo[t]; ok {
		return typ
	}
	typ := &Type{Name: t.Name(), CEL: types.NewObjectType(t.Name()), goType: t, byName: map[string]*Field{}}
	s.byGo[t], s.byName[typ.Name] = typ, typ
	s.addFields(typ, t, nil)
	for _, f := range typ.byName {
		typ.Fields = append(typ.Fields, f)
	}
	slices.SortFunc(typ.Fields, func(a, b *Field) int { return cmp.Compare(a.Name, b.Name) })
	return typ
}

// addFields adds the fields of a Go struct and of the structs inlined in it.
func (s *Schema) addFields(typ *Type, t reflect.Type, path []int) {
	for i := range t.NumField() {
		goField := t.Field(i)
		name, omit := jsonTag(goField)
		index := append(slices.Clone(path), i)
		switch {
		case name == "-" || !goField.IsExported():
		case name == "":
			s.addFields(typ, goField.Type, index)
		default:
			if r, ok := s.readerOf(goField.Type); ok {
				f := newField(typ, name, index, goField.Type, r)
				f.omitEmpty = omit && (goField.Type.Kind() != reflect.Struct || f.nullable)
				f.Optional = (f.omitEmpty || f.nullable) && !served[typ.Name+"."+name]
				typ.byName[name] = f
			}
		}
	}
}
