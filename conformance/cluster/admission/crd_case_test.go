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

// example is an object of testdata/objects.yaml, written as a difference from the smallest object of its kind.
type example struct {
	Name string
	Kind string
	// Bare objects have no spec.
	Bare bool
	// Spec and Rule, the first rule, are merge patches.
	Spec, Rule map[string]any
	// Status is complete. It is written to an object without status.
	Status map[string]any
	// Refused has the invalid fields with the types of the API server's errors, Ours those of our errors if they differ.
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

// smallest returns an object with only the required fields.
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

// change applies the example's difference to an object.
func (e example) change(object map[string]any) {
	if e.Rule != nil {
		rule := object["spec"].(map[string]any)["rules"].([]any)[0].(map[string]any)
		merge(rule, expand(e.Rule).(map[string]any))
	}
	if e.Spec != nil {
		merge(object["spec"].(map[string]any), expand(e.Spec).(map[string]any))
	}
}

// merge applies a JSON merge patch.
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

// expand expands the table's abbreviations: a×63 is a letter repeated 63 times, and a list of an element and ×64 has 64
// such elements, with their numbers for #.
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

// members returns the members of a map. A name with # is replaced by the number of empty members in the value.
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
