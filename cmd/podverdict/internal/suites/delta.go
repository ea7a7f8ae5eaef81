package suites

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// mergeKeys maps the lists that are merged item by item to the field that identifies an item. Other lists are replaced.
var mergeKeys = map[string]string{
	"conditions": "type",
	"containers": "name", "initContainers": "name", "ephemeralContainers": "name",
	"containerStatuses": "name", "initContainerStatuses": "name", "ephemeralContainerStatuses": "name",
}

// unions are the fields of a container status in which only one member may be set.
var unions = []string{"state", "lastState"}

// delta is a change to a Pod or a Job: a JSON tree that has been checked against the object's type.
type delta struct {
	tree any
	// field is the path of the tree in the suite.
	field string
}

// apply merges the delta into the metadata, spec and status of the object that target points to. Null removes a field, and a
// member set in a union replaces the one set before. Parts that cannot be merged are reported to fail.
func (d delta) apply(target any, fail func(field, message string)) {
	tree, _ := d.tree.(map[string]any)
	object := reflect.ValueOf(target).Elem()
	for i := range object.NumField() {
		name, _, _ := strings.Cut(object.Type().Field(i).Tag.Get("json"), ",")
		value, given := tree[name]
		switch value := value.(type) {
		case nil:
			if given {
				object.Field(i).SetZero()
			}
		case map[string]any:
			field := d.field + "." + name
			if err := (merger{fail}).part(object.Field(i).Addr().Interface(), value, field); err != nil {
				fail(field, err.Error())
			}
		}
	}
}

type merger struct {
	fail func(field, message string)
}

// part merges a tree into one part of an object. Only this part is converted to a tree.
func (m merger) part(target any, tree map[string]any, field string) error {
	part, err := runtime.DefaultUnstructuredConverter.ToUnstructured(target)
	if err != nil {
		return err
	}
	m.object(part, tree, field)
	return runtime.DefaultUnstructuredConverter.FromUnstructured(part, target)
}

func (m merger) object(object, tree map[string]any, field string) {
	for name, value := range tree {
		at := manifest.FieldOfKey(field, name)
		switch value := value.(type) {
		case nil:
			delete(object, name)
		case map[string]any:
			object[name] = m.member(object[name], value, name, at)
		case []any:
			object[name] = m.list(object[name], value, name, at)
		default:
			object[name] = value
		}
	}
}

// member returns before with the changes of a tree merged in.
func (m merger) member(before any, tree map[string]any, name, field string) map[string]any {
	object, _ := before.(map[string]any)
	if object == nil {
		object = map[string]any{}
	}
	if len(tree) > 0 && slices.Contains(unions, name) {
		maps.DeleteFunc(object, func(other string, _ any) bool { return tree[other] == nil })
	}
	m.object(object, tree, field)
	return object
}

// list returns before with the changes of a tree merged in. Items are merged by key or appended.
func (m merger) list(before any, tree []any, name, field string) []any {
	key, keyed := mergeKeys[name]
	if !keyed {
		return tree
	}
	list, _ := before.([]any)
	for i, value := range tree {
		at := field + "[" + strconv.Itoa(i) + "]"
		item, _ := value.(map[string]any)
		if item[key] == nil {
			m.fail(at+"."+key, "is required, because the list is merged by "+key)
			continue
		}
		place := slices.IndexFunc(list, func(other any) bool {
			known, _ := other.(map[string]any)
			return known[key] == item[key]
		})
		if place < 0 {
			place, list = len(list), append(list, nil)
		}
		list[place] = m.member(list[place], item, "", at)
	}
	return list
}
