package cel

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// Field is a field of a Type, with its JSON name.
type Field struct {
	Name string
	// Type is the field's CEL type.
	Type *types.Type
	// Optional is true if stored objects may lack the field, so that expressions have to test for it first.
	Optional bool
	// Go is the field's Go type, without its pointer.
	Go reflect.Type

	owner *Type
	index []int
	// omitEmpty is true if the field is absent when empty. Structs never are.
	omitEmpty bool
	// nullable is true if the empty value is null in JSON although the field is not omitted: a pointer or a time.
	nullable bool
	isTime   bool
	read     reader
	constant ref.Val
	cel      *types.FieldType
}

// served are fields that are optional by their Go types, but that the API server sets before it stores an object, or that
// validation requires.
var served = map[string]bool{
	"Pod.apiVersion": true, "Pod.kind": true, "Pod.metadata": true, "Pod.spec": true, "Pod.status": true,
	"Job.apiVersion": true, "Job.kind": true, "Job.metadata": true, "Job.spec": true, "Job.status": true,
	"Node.apiVersion": true, "Node.kind": true, "Node.metadata": true, "Node.spec": true, "Node.status": true,
	"ObjectMeta.name": true, "ObjectMeta.namespace": true, "ObjectMeta.uid": true,
	"ObjectMeta.creationTimestamp": true, "ObjectMeta.resourceVersion": true,
	"PodStatus.phase":   true,
	"PodSpec.dnsPolicy": true, "PodSpec.restartPolicy": true, "PodSpec.schedulerName": true,
	"Container.image":     true,
	"JobSpec.parallelism": true, "JobSpec.backoffLimit": true, "JobSpec.completionMode": true, "JobSpec.suspend": true,
}

func newField(owner *Type, name string, index []int, t reflect.Type, r reader) *Field {
	f := &Field{Name: name, Type: r.cel, Go: t, owner: owner, index: index, read: r}
	if t.Kind() == reflect.Pointer {
		f.Go = t.Elem()
	}
	f.isTime = f.Go == reflect.TypeFor[metav1.Time]()
	f.nullable = f.isTime || t.Kind() == reflect.Pointer
	f.cel = &types.FieldType{Type: f.Type, IsSet: f.isSet, GetFrom: f.getFrom}
	return f
}

// Field returns the field with a JSON name, which may be escaped as in the API server's CEL, such as __namespace__.
func (t *Type) Field(name string) (*Field, bool) {
	if f, ok := t.byName[name]; ok {
		return f, true
	}
	if unescaped, ok := apiservercel.Unescape(name); ok {
		f, ok := t.byName[unescaped]
		return f, ok
	}
	return nil, false
}

// Of returns the field's value in an object, which must be a struct of the field's owner, without its pointer. It returns
// false if the object does not have the field. It does not allocate.
func (f *Field) Of(object reflect.Value) (reflect.Value, bool) {
	v := object.FieldByIndex(f.index)
	if (f.omitEmpty || f.nullable) && empty(v) {
		return reflect.Value{}, false
	}
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
		if f.isTime && empty(v) {
			return reflect.Value{}, false
		}
	}
	return v, true
}

// Constant returns the value that the field has in all objects, or nil.
func (f *Field) Constant() ref.Val { return f.constant }

// value returns the field's value in an object as a CEL value.
func (f *Field) value(object reflect.Value) (ref.Val, bool) {
	if f.constant != nil {
		return f.constant, true
	}
	v, ok := f.Of(object)
	if !ok {
		return nil, false
	}
	return f.read.value(v), true
}

func (f *Field) isSet(pointer any) bool {
	v, ok := f.owner.structAt(pointer)
	if !ok {
		return false
	}
	_, set := f.value(v)
	return set
}

func (f *Field) getFrom(pointer any) (any, error) {
	v, ok := f.owner.structAt(pointer)
	if !ok {
		return nil, fmt.Errorf("no such field: %T is no %s", pointer, f.owner.Name)
	}
	value, set := f.value(v)
	if !set {
		return nil, fmt.Errorf("no such key: %s", f.Name) // CEL's error for a missing map key
	}
	return value, nil
}

// structAt returns the object that a pointer to this type points to.
func (t *Type) structAt(pointer any) (reflect.Value, bool) {
	v := reflect.ValueOf(pointer)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Type().Elem() != t.goType {
		return reflect.Value{}, false
	}
	return v.Elem(), true
}

// empty reports whether encoding/json and apimachinery's converter omit the value, or whether it is an unset time.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Struct:
		t, isTime := reflect.TypeAssert[*metav1.Time](v.Addr())
		return isTime && t.IsZero()
	default:
		return v.IsZero()
	}
}

// jsonTag returns the JSON name of a field, or an empty string for an inlined struct.
func jsonTag(f reflect.StructField) (name string, omit bool) {
	options := strings.Split(f.Tag.Get("json"), ",")
	name = options[0]
	if name == "" && !f.Anonymous {
		name = f.Name
	}
	return name, slices.Contains(options[1:], "omitempty") || slices.Contains(options[1:], "omitzero")
}
