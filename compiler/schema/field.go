package schema

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

// Field is a field of a Type by its JSON name.
type Field struct {
	Name string
	// Type is the field's type in expressions.
	Type *types.Type
	// Optional says that objects that the API server stores may lack the field, so
	// that an expression has to ask for it first.
	Optional bool
	// Go is the field's Go type, behind its pointer.
	Go reflect.Type

	owner *Type
	index []int
	// omitEmpty says that the field is left out when it is empty. Structs never are.
	omitEmpty bool
	// nullable is a field whose empty value is null in JSON, although it is not
	// omitted: a pointer, or a time.
	nullable bool
	isTime   bool
	read     reader
	constant ref.Val
	cel      *types.FieldType
}

// served are fields that are optional by their types, but that the API server fills in
// before it stores an object, or that validation requires.
var served = map[string]bool{
	"Pod.apiVersion": true, "Pod.kind": true, "Pod.metadata": true, "Pod.spec": true, "Pod.status": true,
	"Job.apiVersion": true, "Job.kind": true, "Job.metadata": true, "Job.spec": true, "Job.status": true,
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

// Field finds a field by its JSON name, or by that name as the API server's CEL
// escapes it, as in __namespace__.
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

// Of returns the field of an object, which is a struct of the field's owner, and follows
// its pointer. The second result is false when the object does not have the field.
// Nothing is allocated.
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

// value returns the field of an object as a CEL value.
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
		return nil, fmt.Errorf("no such key: %s", f.Name) // as CEL says of a map
	}
	return value, nil
}

// structAt returns what a pointer to an object of this type points to.
func (t *Type) structAt(pointer any) (reflect.Value, bool) {
	v := reflect.ValueOf(pointer)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Type().Elem() != t.goType {
		return reflect.Value{}, false
	}
	return v.Elem(), true
}

// empty reports whether encoding/json and apimachinery's converter leave the value out,
// or it is a time that is not set.
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

// jsonTag returns the JSON name of a field. It is empty for a field whose own fields
// belong to the struct around it.
func jsonTag(f reflect.StructField) (name string, omit bool) {
	options := strings.Split(f.Tag.Get("json"), ",")
	name = options[0]
	if name == "" && !f.Anonymous {
		name = f.Name
	}
	return name, slices.Contains(options[1:], "omitempty") || slices.Contains(options[1:], "omitzero")
}
