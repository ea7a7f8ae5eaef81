package manifest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	strictjson "sigs.k8s.io/json"
)

// maxExamined is the maximum size in bytes of an object or document whose errors are examined in detail. Objects in a cluster are smaller.
const maxExamined = 4 << 20

// decodeErrors returns an error for each field of value that does not fit target. The decoder itself reports only the first, without list
// indices, and does not report fields whose types decode themselves, such as times and quantities.
func decodeErrors(o Origin, value []byte, target any, cause error, strict bool) []error {
	if syntax, offset := strictjson.SyntaxErrorOffset(cause); syntax {
		before := o.Document.Place.After(value[:max(min(int(offset), len(value))-1, 0)])
		at := Position{File: o.Document.File, Line: before.Line, Column: before.Column + 1}
		return []error{&Error{origin: Origin{Document: o.Document}, at: &at, Message: "invalid JSON: " + cause.Error()}}
	}
	var whole any
	if len(value) > maxExamined || json.Unmarshal(value, &whole) != nil {
		return []error{o.Error("", cause.Error())}
	}
	m := misfits{strict: strict}
	m.search(whole, reflect.TypeOf(target).Elem(), "")
	if len(m.found) == 0 {
		return []error{o.Error("", cause.Error())}
	}
	errs := make([]*Error, len(m.found))
	for i, part := range m.found {
		if errs[i] = o.Error(part.field, messageMismatch(part.cause)); errors.Is(part.cause, errUnknownField) {
			errs[i] = o.unfit(target, part.field, part.cause.Error())
		}
	}
	return inFileOrder(errs)
}

// misfits collects the smallest parts of a value that do not fit their type, and with strict also unknown fields.
type misfits struct {
	found  []misfit
	strict bool
}

var errUnknownField = errors.New("unknown field")

type misfit struct {
	field string
	cause error
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// search compares a value with a type. It does not look inside a type that decodes itself.
func (m *misfits) search(value any, t reflect.Type, field string) {
	if t = indirect(t); len(m.found) == maxErrors {
		return
	}
	members, isMap := value.(map[string]any)
	items, isList := value.([]any)
	switch kind := t.Kind(); {
	case reflect.PointerTo(t).Implements(unmarshaler):
	case isMap && (kind == reflect.Map || kind == reflect.Struct):
		types := fields(t)
		for _, key := range slices.Sorted(maps.Keys(members)) {
			below, known := types[key]
			if kind == reflect.Map {
				below, known = t.Elem(), true
			}
			switch at := FieldOfKey(field, key); {
			case known:
				m.search(members[key], below, at)
			case m.strict && len(m.found) < maxErrors:
				m.found = append(m.found, misfit{at, errUnknownField})
			}
		}
		return
	case isList && kind == reflect.Slice:
		for i, item := range items {
			m.search(item, t.Elem(), fmt.Sprintf("%s[%d]", field, i))
		}
		return
	}
	data, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(data, reflect.New(t).Interface())
	}
	if err != nil {
		m.found = append(m.found, misfit{field, err})
	}
}

// messageMismatch describes a decoding error in YAML terms instead of Go terms.
func messageMismatch(cause error) string {
	mismatch, ok := errors.AsType[*json.UnmarshalTypeError](cause)
	if !ok {
		return cause.Error()
	}
	want, got := typeName(mismatch.Type), cmp.Or(valueNames[mismatch.Value], mismatch.Value) // the value may be "number 5"
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

// valueNames maps encoding/json's names of value kinds to YAML's.
var valueNames = map[string]string{"bool": "a boolean", "array": "a list", "object": "an object", "string": "a string", "number": "a number"}
