//go:build cluster

package admission

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// complete has the names of the examples with every field.
var complete = []string{"policy with everything", "binding with everything"}

// TestTypes tests that the API server and Validate agree on values of another type, null, and unknown field names, at
// every position.
func TestTypes(t *testing.T) {
	s := newKinds(t)
	for _, e := range examples(t) {
		if !slices.Contains(complete, e.Name) {
			continue
		}
		object := e.object()
		asked := 0
		visit("spec", object["spec"], func(v any) { object["spec"] = v }, func(path string, value any, replace func(any)) {
			for _, wrong := range wrongTypes(value) {
				replace(wrong)
				asked++
				if theirs := s.agree(t, object, fmt.Sprintf("%s: %T", path, wrong)); !strings.Contains(theirs.fields()[path], "FieldValueTypeInvalid") {
					t.Errorf("%s: %T: the API server says %v", path, wrong, theirs)
				}
			}
			replace(nil)
			if strings.Contains(path, ".matchLabels[") { // the API server drops it, only we reject it
				if _, we := ours(t, object); we == nil {
					t.Errorf("%s: null", path)
				}
			} else {
				s.agree(t, object, path+": null")
			}
			replace(value)
			if members, isMap := value.(map[string]any); isMap && !strings.HasSuffix(path, ".matchLabels") {
				members["unheardOf"] = "a"
				s.agree(t, object, path+" with a name")
				delete(members, "unheardOf")
			}
		})
		if _, refused := s.create(t, object); refused != nil || asked < 20 {
			t.Errorf("%s: %d times a wrong type; then %v", e.Name, asked, refused)
		}
	}
}

// agree checks that both accept an object or both reject it, and returns the API server's errors.
func (s *kinds) agree(t *testing.T, object map[string]any, what string) refusal {
	t.Helper()
	_, theirs := s.create(t, object)
	_, we := ours(t, object)
	if (theirs == nil) != (we == nil) {
		t.Errorf("%s: the API server says %.1000v, we say %.1000v", what, theirs, we)
	}
	return theirs
}

// visit calls back for a value and all values below it, each with a function that replaces it.
func visit(path string, value any, replace func(any), back func(path string, value any, replace func(any))) {
	back(path, value, replace)
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			below := path + "." + name
			if strings.HasSuffix(path, ".matchLabels") {
				below = path + "[" + name + "]"
			}
			visit(below, v[name], func(other any) { v[name] = other }, back)
		}
	case []any:
		for i := range v {
			visit(fmt.Sprintf("%s[%d]", path, i), v[i], func(other any) { v[i] = other }, back)
		}
	}
}

func wrongTypes(value any) []any {
	switch value.(type) {
	case string:
		return []any{int64(7), true, map[string]any{}, []any{}}
	case map[string]any:
		return []any{int64(7), "text", []any{}}
	case []any:
		return []any{int64(7), "text", map[string]any{}}
	default:
		return []any{"7", true, 1.5, []any{}}
	}
}
