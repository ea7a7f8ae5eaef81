package manifest

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/internal/didyoumean"
)

// suggestion returns the field of target closest to a misspelt name, or "".
func suggestion(target any, field string) string {
	path := steps(field)
	if len(path) == 0 {
		return ""
	}
	wrong := path[len(path)-1]
	parent := reflect.TypeOf(target).Elem()
	for _, step := range path[:len(path)-1] {
		if parent = typeBelow(parent, step); parent == nil {
			return ""
		}
	}
	known := fields(parent)
	if _, ok := known[wrong]; ok {
		return ""
	}
	return didyoumean.Name(wrong, slices.Collect(maps.Keys(known)))
}

// typeBelow returns the type of a struct's field or a list's item, or nil.
func typeBelow(t reflect.Type, step string) reflect.Type {
	if strings.HasPrefix(step, "[") && t.Kind() == reflect.Slice {
		return indirect(t.Elem())
	}
	if below, ok := fields(t)[step]; ok {
		return indirect(below)
	}
	return nil
}

func indirect(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// fields returns the types of a struct's fields by their JSON names. Fields of embedded structs are included.
func fields(t reflect.Type) map[string]reflect.Type {
	found := map[string]reflect.Type{}
	if t.Kind() != reflect.Struct {
		return found
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name != "":
			found[name] = f.Type
		case f.Anonymous:
			maps.Copy(found, fields(f.Type))
		}
	}
	return found
}
