package fielddecoder

import (
	"bytes"
	"errors"
	"reflect"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"
)

var (
	timeType      = reflect.TypeFor[metav1.Time]()
	pairsType     = reflect.TypeFor[map[string]string]()
	resourcesType = reflect.TypeFor[corev1.ResourceList]()
)

// leaf decodes a value that contains no structs. It decodes the most common types itself, and others as the API server does, which
// is several times slower.
func (d *Decoder) leaf(v reflect.Value) error {
	switch kind := d.tokens.PeekKind(); {
	case v.Kind() == reflect.Pointer && (v.Type().Elem().Kind() != reflect.Struct || kind == '"' && v.Type().Elem() == timeType):
		v.Set(reflect.New(v.Type().Elem()))
		return d.leaf(v.Elem())
	case kind == '"' && v.Kind() == reflect.String:
		text, err := d.string()
		v.SetString(text)
		return err
	case kind == '"' && v.Type() == timeType:
		return d.time(v)
	case kind == '0' && v.CanInt():
		return d.integer(v)
	case v.Kind() == reflect.Bool:
		token, err := d.tokens.ReadToken()
		v.SetBool(token.Kind() == 't')
		if err == nil && token.Kind() != 't' && token.Kind() != 'f' {
			err = errRefused
		}
		return err
	case kind == '{' && v.Type() == pairsType:
		return d.pairs(v)
	case kind == '{' && v.Type() == resourcesType:
		return d.resources(v)
	}
	return d.strictly(v)
}

// strictly decodes as the API server does.
func (d *Decoder) strictly(v reflect.Value) error {
	raw, err := d.tokens.ReadValue()
	if err != nil {
		return err
	}
	refused, err := json.UnmarshalStrict(raw, v.Addr().Interface())
	return errors.Join(append(refused, err)...)
}

// string returns the next string.
func (d *Decoder) string() (string, error) {
	raw, err := d.tokens.ReadValue()
	switch {
	case err != nil:
		return "", err
	case raw.Kind() != '"':
		return "", errRefused
	case bytes.IndexByte(raw, '\\') < 0:
		return string(raw[1 : len(raw)-1]), nil
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	return string(text), err
}

// time decodes as metav1.Time does.
func (d *Decoder) time(v reflect.Value) error {
	text, err := d.string()
	if err != nil {
		return err
	}
	t, err := time.Parse(time.RFC3339, text)
	v.Set(reflect.ValueOf(metav1.Time{Time: t.Local()}))
	return err
}

func (d *Decoder) integer(v reflect.Value) error {
	raw, err := d.tokens.ReadValue()
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(string(raw), 10, v.Type().Bits())
	v.SetInt(n)
	return err
}

// pairs decodes labels and annotations.
func (d *Decoder) pairs(v reflect.Value) error {
	if err := d.begin('{'); err != nil {
		return err
	}
	pairs := map[string]string{}
	for d.tokens.PeekKind() == '"' {
		key, err := d.string()
		if err != nil {
			return err
		}
		if _, twice := pairs[key]; twice {
			return errRefused
		}
		if pairs[key], err = d.string(); err != nil {
			return err
		}
	}
	v.Set(reflect.ValueOf(pairs))
	return d.begin('}')
}

// resources decodes requests and limits.
func (d *Decoder) resources(v reflect.Value) error {
	if err := d.begin('{'); err != nil {
		return err
	}
	resources := corev1.ResourceList{}
	for d.tokens.PeekKind() == '"' {
		name, err := d.string()
		if err != nil {
			return err
		}
		raw, err := d.tokens.ReadValue()
		if err != nil {
			return err
		}
		quantity, twice := resources[corev1.ResourceName(name)]
		if twice {
			return errRefused
		}
		if err := quantity.UnmarshalJSON(raw); err != nil {
			return err
		}
		resources[corev1.ResourceName(name)] = quantity
	}
	v.Set(reflect.ValueOf(resources))
	return d.begin('}')
}
