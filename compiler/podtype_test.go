package compiler

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
)

// goTypes are the Go types of the objects in podFields.
var goTypes = map[string]reflect.Type{
	podType.TypeName():        reflect.TypeFor[corev1.Pod](),
	statusType.TypeName():     reflect.TypeFor[corev1.PodStatus](),
	containerType.TypeName():  reflect.TypeFor[corev1.ContainerStatus](),
	stateType.TypeName():      reflect.TypeFor[corev1.ContainerState](),
	terminatedType.TypeName(): reflect.TypeFor[corev1.ContainerStateTerminated](),
	conditionType.TypeName():  reflect.TypeFor[corev1.PodCondition](),
}

// celType is the CEL type of a Go type, or nil when no object of podFields has it.
func celType(t reflect.Type) *types.Type {
	switch t.Kind() {
	case reflect.Pointer:
		return celType(t.Elem())
	case reflect.Slice:
		return types.NewListType(celType(t.Elem()))
	case reflect.String:
		return types.StringType
	case reflect.Int32:
		return types.IntType
	default:
		for name, known := range goTypes {
			if known == t {
				return types.NewObjectType(name)
			}
		}
		return nil
	}
}

func jsonField(t reflect.Type, name string) (reflect.StructField, bool) {
	for f := range t.Fields() {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

func TestFieldsAreThoseOfTheAPI(t *testing.T) {
	if len(goTypes) != len(podFields) {
		t.Fatalf("%d types in podFields, %d known to this test", len(podFields), len(goTypes))
	}
	for typ, fields := range podFields {
		for name, field := range fields {
			f, ok := jsonField(goTypes[typ], name)
			if !ok {
				t.Errorf("%v has no field %s in JSON", goTypes[typ], name)
				continue
			}
			if want := celType(f.Type); want == nil || !field.Type.IsExactType(want) {
				t.Errorf("%s.%s is %v in CEL, %v in Go", typ, name, field.Type, f.Type)
			}
		}
	}
}

// A field is set, and has a value, exactly when the JSON form has it: has() and
// .? then answer as they do in the API server.
func TestFieldsAreSetWhenJSONHasThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pod := Pods.Draw(t, "pod")
		sameAsJSON(t, "pod", podAdapter{types.DefaultTypeAdapter}.NativeToValue(pod).(object))
	})
}

// sameAsJSON compares an object with its own JSON form, field by field, and then
// goes down.
func sameAsJSON(t *rapid.T, path string, o object) {
	t.Helper()
	form := map[string]any{}
	if text, err := json.Marshal(o.Value()); err != nil {
		t.Fatal(err)
	} else if err := json.Unmarshal(text, &form); err != nil {
		t.Fatal(err)
	}
	for name := range podFields[o.typ.TypeName()] {
		_, present := form[name]
		if set := o.IsSet(types.String(name)); set != types.Bool(present) {
			t.Fatalf("%s.%s: set is %v, in JSON is %v", path, name, set, present)
		}
		if present {
			sameValue(t, path+"."+name, o, name, form[name])
		}
	}
}

func sameValue(t *rapid.T, path string, o object, name string, form any) {
	t.Helper()
	switch value := o.Get(types.String(name)); form := form.(type) {
	case map[string]any:
		sameAsJSON(t, path, value.(object))
	case []any:
		list := value.(traits.Lister)
		if list.Size() != types.Int(len(form)) {
			t.Fatalf("%s has %v elements, %d in JSON", path, list.Size(), len(form))
		}
		for i := range form {
			sameAsJSON(t, fmt.Sprintf("%s[%d]", path, i), list.Get(types.Int(i)).(object))
		}
	case string:
		if value != types.String(form) {
			t.Fatalf("%s is %v, %q in JSON", path, value, form)
		}
	case float64:
		if value != types.Int(form) {
			t.Fatalf("%s is %v, %v in JSON", path, value, form)
		}
	default:
		t.Fatalf("%s is %T in JSON", path, form)
	}
}

// Objects are checked by CEL before they run, but runtime values of type dyn are
// not: an unknown name is an error, never a silent absence.
func TestUnknownFieldsAreErrors(t *testing.T) {
	pod := podAdapter{types.DefaultTypeAdapter}.NativeToValue(&corev1.Pod{}).(object)
	for _, v := range []ref.Val{pod.Get(types.String("spec")), pod.IsSet(types.String("spec")), pod.Get(types.Int(1)), pod.IsSet(types.Int(1))} {
		if !types.IsError(v) {
			t.Errorf("%v is no error", v)
		}
	}
}
