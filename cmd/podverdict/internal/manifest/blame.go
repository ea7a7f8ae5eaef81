package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	strictjson "sigs.k8s.io/json"
)

// maxExamined is the size of an object or document, in bytes, up to which errors are looked into closely. Those that a
// cluster holds are smaller.
const maxExamined = 4 << 20

// decodeErrors says which fields of value do not fit target. The decoder tells only the first, without list indices,
// and nothing of those that read themselves, such as times and quantities.
func decodeErrors(o Origin, value []byte, target any, cause error) []error {
	if syntax, offset := strictjson.SyntaxErrorOffset(cause); syntax {
		before := o.Document.Place.After(value[:max(min(int(offset), len(value))-1, 0)])
		at := Position{File: o.Document.File, Line: before.Line, Column: before.Column + 1}
		return []error{&Error{origin: Origin{Document: o.Document}, at: &at, Message: "invalid JSON: " + cause.Error()}}
	}
	var whole any
	if len(value) > maxExamined || json.Unmarshal(value, &whole) != nil {
		return []error{o.Error("", cause.Error())}
	}
	b := blame{target: reflect.TypeOf(target).Elem()}
	b.search(whole, "", func(part any) any { return part })
	if len(b.found) == 0 {
		return []error{o.Error("", cause.Error())}
	}
	errs := make([]*Error, len(b.found))
	for i, c := range b.found {
		errs[i] = o.Error(c.field, messageMismatch(c.cause))
	}
	return inFileOrder(errs)
}

// blame finds the smallest parts of a value that do not fit a type.
type blame struct {
	target reflect.Type
	found  []culprit
}

type culprit struct {
	field string
	cause error
}

// refuses decodes a value that holds nothing but one part.
func (b *blame) refuses(value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, reflect.New(b.target).Interface())
}

// search looks into part, which wrap puts where it belongs. A container that is refused though empty is at fault
// itself, as is one none of whose members is.
func (b *blame) search(part any, field string, wrap func(any) any) {
	if len(b.found) == maxErrors {
		return
	}
	cause := b.refuses(wrap(part))
	if cause == nil {
		return
	}
	before := len(b.found)
	switch container := part.(type) {
	case map[string]any:
		if b.refuses(wrap(map[string]any{})) != nil {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(container)) {
			b.search(container[key], FieldOfKey(field, key), func(member any) any {
				return wrap(map[string]any{key: member})
			})
		}
	case []any:
		if b.refuses(wrap([]any{})) != nil {
			break
		}
		for i, member := range container {
			b.search(member, fmt.Sprintf("%s[%d]", field, i), func(member any) any { return wrap([]any{member}) })
		}
	}
	if len(b.found) == before {
		b.found = append(b.found, culprit{field, cause})
	}
}

// messageMismatch says a decoding error in the words of YAML rather than of Go.
func messageMismatch(cause error) string {
	mismatch, ok := errors.AsType[*json.UnmarshalTypeError](cause)
	if !ok {
		return cause.Error()
	}
	want, got := typeName(mismatch.Type), valueName(mismatch.Value)
	if want == "a string" && got != "a list" && got != "an object" {
		return fmt.Sprintf("expected %s, found %s: put it in quotes", want, got)
	}
	return fmt.Sprintf("expected %s, found %s", want, got)
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	}
	return fmt.Sprintf("an integer (%s)", t.Kind())
}

func valueName(value string) string {
	switch value {
	case "bool":
		return "a boolean"
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "string":
		return "a string"
	case "number":
		return "a number"
	}
	return value // "number 5"
}
