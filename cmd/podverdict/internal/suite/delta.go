package suite

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
)

// delta is a change of an object: a tree of JSON, which has been checked against the type of the object.
type delta struct {
	tree any
	// field is where the tree is in the suite.
	field string
}

// unfit is a part of a delta that cannot be merged.
type unfit struct{ field, message string }

// apply merges the delta into the object that target points to, as kubectl's strategic merge does: objects by their fields,
// lists with a merge key by that, and statuses of containers by name, which the API gives no key. Null takes away. What is
// set of a union, a container's state, takes the place of what was.
func (d delta) apply(target any) []unfit {
	var m merging
	if tree, ok := d.tree.(map[string]any); ok {
		m.object(reflect.ValueOf(target).Elem(), tree, d.field)
	}
	return m.errs
}

type merging struct{ errs []unfit }

func (m *merging) fail(field, message string) {
	m.errs = append(m.errs, unfit{field, message})
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func (m *merging) value(v reflect.Value, tree any, field, key string) {
	switch {
	case tree == nil:
		v.SetZero()
	case v.Addr().Type().Implements(unmarshaler):
		m.whole(v, tree, field)
	case v.Kind() == reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		m.value(v.Elem(), tree, field, key)
	default:
		m.kind(v, tree, field, key)
	}
}

func (m *merging) kind(v reflect.Value, tree any, field, key string) {
	switch tree := tree.(type) {
	case map[string]any:
		if v.Kind() == reflect.Map {
			m.entries(v, tree, field)
			return
		}
		m.object(v, tree, field)
	case []any:
		if key == "" {
			m.whole(v, tree, field)
			return
		}
		m.list(v, tree, field, key)
	default:
		m.whole(v, tree, field)
	}
}

// whole replaces a value.
func (m *merging) whole(v reflect.Value, tree any, field string) {
	if text, ok := tree.(string); ok && v.Kind() == reflect.String {
		v.SetString(text)
		return
	}
	data, err := json.Marshal(tree)
	if err == nil {
		v.SetZero()
		err = json.Unmarshal(data, v.Addr().Interface())
	}
	if err != nil {
		m.fail(field, err.Error())
	}
}

var containerState = reflect.TypeFor[corev1.ContainerState]()

func (m *merging) object(v reflect.Value, tree map[string]any, field string) {
	known := membersOf(v.Type())
	if v.Type() == containerState {
		for name, other := range known {
			if _, set := tree[name]; !set && len(tree) > 0 {
				v.FieldByIndex(other.index).SetZero()
			}
		}
	}
	for name, child := range tree {
		if f, ok := known[name]; ok {
			m.value(v.FieldByIndex(f.index), child, field+"."+name, f.mergeKey)
		}
	}
}

// entries merges maps. The maps of Pods and Jobs hold scalars.
func (m *merging) entries(v reflect.Value, tree map[string]any, field string) {
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for name, child := range tree {
		key := reflect.ValueOf(name).Convert(v.Type().Key())
		if child == nil {
			v.SetMapIndex(key, reflect.Value{})
			continue
		}
		entry := reflect.New(v.Type().Elem()).Elem()
		m.whole(entry, child, manifest.FieldOfKey(field, name))
		v.SetMapIndex(key, entry)
	}
}

// list merges each item into the one of the same key, or appends it.
func (m *merging) list(v reflect.Value, tree []any, field, key string) {
	for i, child := range tree {
		at := field + "[" + strconv.Itoa(i) + "]"
		item, ok := child.(map[string]any)
		if !ok || item[key] == nil {
			m.fail(at+"."+key, "is required, because the list is merged by "+key)
			continue
		}
		m.object(m.item(v, item[key], key), item, at)
	}
}

// item returns the item with a key, or a new one.
func (m *merging) item(v reflect.Value, value any, key string) reflect.Value {
	index := membersOf(v.Type().Elem())[key].index
	wanted, isText := value.(string)
	for i := range v.Len() {
		got := v.Index(i).FieldByIndex(index)
		if isText && got.Kind() == reflect.String && got.String() == wanted {
			return v.Index(i)
		}
		if number, ok := value.(float64); ok && got.CanInt() && got.Int() == int64(number) {
			return v.Index(i)
		}
	}
	v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
	return v.Index(v.Len() - 1)
}

// member is a field of a struct, by its JSON name.
type member struct {
	index []int
	// mergeKey is the field of its items by which they are merged, if it is such a list.
	mergeKey string
}

var members sync.Map // of map[string]member, by reflect.Type

func membersOf(t reflect.Type) map[string]member {
	if known, ok := members.Load(t); ok {
		return known.(map[string]member) //nolint:forcetypeassert // only this function stores
	}
	found := map[string]member{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			continue
		}
		found[name] = member{f.Index, mergeKey(f)}
	}
	members.Store(t, found)
	return found
}

// mergeKey returns the merge key of the API, or the name for statuses of containers, for which the API has none.
func mergeKey(f reflect.StructField) string {
	if f.Type == reflect.TypeFor[[]corev1.ContainerStatus]() {
		return "name"
	}
	return f.Tag.Get("patchMergeKey")
}
