package conformance

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// object reads an object and hands over its names, for which member has to read the
// values. Null is an object without members.
func (d *decoder) object(member func(name string) error) error {
	open, err := d.json.ReadToken()
	switch {
	case err != nil:
		return err
	case open.Kind() == 'n':
		return nil
	case open.Kind() != '{':
		return d.wrongType("an object")
	}
	for d.json.PeekKind() != '}' {
		raw, err := d.json.ReadValue()
		if err != nil {
			return err
		}
		if err := member(d.string(raw)); err != nil {
			return err
		}
	}
	_, err = d.json.ReadToken()
	return err
}

// maxElements is how many containers or conditions of a pod are read. An object of
// the API server has room for fewer.
const maxElements = 1 << 16

// list reads an array of objects into a slice, using what memory it has. Null is an
// empty array, and null elements are objects without members.
func list[T any](d *decoder, into *[]T, member func(element *T, name string) error) error {
	open, err := d.json.ReadToken()
	switch {
	case err != nil:
		return err
	case open.Kind() == 'n':
		return nil
	case open.Kind() != '[':
		return d.wrongType("an array")
	}
	for d.json.PeekKind() != ']' {
		if len(*into) == maxElements {
			return errLongList(string(d.json.StackPointer()), maxElements)
		}
		var zero T
		*into = append(*into, zero)
		element := &(*into)[len(*into)-1]
		if err := d.object(func(name string) error { return member(element, name) }); err != nil {
			return err
		}
	}
	_, err = d.json.ReadToken()
	return err
}

// text reads a string. Null leaves it as it is.
func (d *decoder) text(into *string) error {
	raw, err := d.json.ReadValue()
	switch {
	case err != nil:
		return err
	case raw.Kind() == 'n':
		return nil
	case raw.Kind() != '"':
		return d.wrongType("a string")
	}
	*into = d.string(raw)
	return nil
}

// int32 reads a whole number, written without fraction and exponent as Kubernetes
// wants it. Null leaves it as it is.
func (d *decoder) int32(into *int32) error {
	raw, err := d.json.ReadValue()
	switch {
	case err != nil:
		return err
	case raw.Kind() == 'n':
		return nil
	case raw.Kind() != '0':
		return d.wrongType("a whole number of 32 bits")
	}
	n, err := strconv.ParseInt(string(raw), 10, 32)
	if err != nil {
		return d.wrongType("a whole number of 32 bits")
	}
	*into = int32(n)
	return nil
}

// wrongType is the error for the value that was just read or opened.
func (d *decoder) wrongType(want string) error {
	return errWrongType(string(d.json.StackPointer()), want)
}

// Bounds of the table of shared strings.
const (
	maxShared       = 1024 // strings
	maxSharedString = 64   // bytes of one
)

// string is the value of a JSON string. Short ones are shared: the names of fields,
// containers and conditions are the same on every line.
func (d *decoder) string(raw jsontext.Value) string {
	text := []byte(raw[1 : len(raw)-1])
	if bytes.IndexByte(text, '\\') >= 0 {
		// The decoder has checked the string, so there is nothing to go wrong.
		d.unquoted, _ = jsontext.AppendUnquote(d.unquoted[:0], raw)
		text = d.unquoted
	}
	if len(text) > maxSharedString {
		return string(text)
	}
	if s, ok := d.strings[string(text)]; ok {
		return s
	}
	if len(d.strings) >= maxShared {
		clear(d.strings)
	}
	s := string(text)
	d.strings[s] = s
	return s
}
