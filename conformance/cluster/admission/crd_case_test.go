//go:build cluster

package admission

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// example is an object of testdata/objects.yaml, which is written as a difference from the smallest one of its kind.
type example struct {
	Name string
	Kind string
	// Bare objects have no spec.
	Bare bool
	// Spec and Rule, which is the first one, are merge patches.
	Spec, Rule map[string]any
	// Status is complete. It is written to an object that has none.
	Status map[string]any
	// Refused are the fields at fault with the types of what the API server says of them, Ours of what we do when that
	// differs.
	Refused, Ours map[string]string
}

func examples(t *testing.T) []example {
	t.Helper()
	all := decodeFile[[]example](t, "testdata/objects.yaml")
	if len(all) < 60 {
		t.Fatalf("there are only %d objects", len(all))
	}
	seen := map[string]bool{}
	for i := range all {
		e := &all[i]
		if e.Name == "" || seen[e.Name] {
			t.Fatalf("object %d has no name of its own: %q", i, e.Name)
		}
		seen[e.Name] = true
		if e.Kind == "" {
			e.Kind = v1alpha1.KindPodFailurePolicy
		}
		if e.Ours == nil {
			e.Ours = e.Refused
		}
	}
	return all
}

// smallest returns an object with nothing but what is required.
func smallest(kind string) map[string]any {
	spec := map[string]any{"rules": []any{map[string]any{"name": "any", "when": "true", "action": "Count"}}}
	if kind == v1alpha1.KindPodFailurePolicyBinding {
		spec = map[string]any{"policyName": "any"}
	}
	return map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": kind,
		"metadata": map[string]any{"name": "example"}, "spec": spec,
	}
}

func (e example) object() map[string]any {
	object := smallest(e.Kind)
	e.change(object)
	if e.Bare {
		delete(object, "spec")
	}
	if e.Status != nil {
		object["status"] = expand(e.Status)
	}
	return object
}

// change makes the difference in an object.
func (e example) change(object map[string]any) {
	if e.Rule != nil {
		rule := object["spec"].(map[string]any)["rules"].([]any)[0].(map[string]any)
		merge(rule, expand(e.Rule).(map[string]any))
	}
	if e.Spec != nil {
		merge(object["spec"].(map[string]any), expand(e.Spec).(map[string]any))
	}
}

// merge is a JSON merge patch.
func merge(into, patch map[string]any) {
	for name, value := range patch {
		below, isMap := into[name].(map[string]any)
		change, toMap := value.(map[string]any)
		switch {
		case value == nil:
			delete(into, name)
		case isMap && toMap:
			merge(below, change)
		default:
			into[name] = value
		}
	}
}

var repetition = regexp.MustCompile(`(.)×(\d+)`)

// expand writes out what the table has in short: a×63 is 63 times a letter, and a list of an element and ×64 is 64 such
// elements, with their numbers for #.
func expand(value any) any {
	switch v := value.(type) {
	case string:
		return repetition.ReplaceAllStringFunc(v, func(found string) string {
			m := repetition.FindStringSubmatch(found)
			n, _ := strconv.Atoi(m[2])
			return strings.Repeat(m[1], n)
		})
	case map[string]any:
		expanded := map[string]any{}
		for name, below := range v {
			maps.Copy(expanded, members(name, below))
		}
		return expanded
	case []any:
		if len(v) == 2 {
			if n, ok := copies(v[1]); ok {
				return copied(v[0], n)
			}
		}
		expanded := make([]any, len(v))
		for i, element := range v {
			expanded[i] = expand(element)
		}
		return expanded
	}
	return value
}

// members of a map with # in their name are as many as the value says, all of them empty.
func members(name string, value any) map[string]any {
	n, ok := copies(value)
	if !ok {
		return map[string]any{expand(name).(string): expand(value)}
	}
	all := map[string]any{}
	for i := range n {
		all[numbered(expand(name), i).(string)] = ""
	}
	return all
}

func copies(value any) (int, bool) {
	text, _ := value.(string)
	digits, ok := strings.CutPrefix(text, "×")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil
}

func copied(element any, n int) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = numbered(expand(element), i)
	}
	return all
}

func numbered(value any, number int) any {
	switch v := value.(type) {
	case string:
		return strings.ReplaceAll(v, "#", fmt.Sprint(number))
	case map[string]any:
		all := map[string]any{}
		for name, below := range v {
			all[name] = numbered(below, number)
		}
		return all
	}
	return value
}
