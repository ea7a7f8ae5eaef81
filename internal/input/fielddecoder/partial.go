package fielddecoder

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/podverdict/podverdict/compiler/cel"
)

// Plan selects the fields of an object to decode.
type Plan struct {
	object *structPlan
}

// structPlan holds the fields of a Go struct and of its embedded structs.
type structPlan struct {
	// fields maps quoted JSON names to fields.
	fields map[string]*fieldPlan
	// kept is the number of kept fields.
	kept int
}

// fieldPlan describes how to decode a field.
type fieldPlan struct {
	index []int
	kept  bool
	// number is the index of a kept field among the kept fields of its struct.
	number int
	// inner is set for structs, and for pointers to structs and lists of structs.
	inner *structPlan
}

// NewPlan returns the plan for objects of a Go type of the Kubernetes API. With a nil set, all fields are kept.
func NewPlan[T any](kept cel.Fields) *Plan {
	return newPlan(reflect.TypeFor[T](), kept)
}

func newPlan(t reflect.Type, kept cel.Fields) *Plan {
	p := planner{kept: kept, made: map[reflect.Type]*structPlan{}}
	return &Plan{p.structOf(t)}
}

type planner struct {
	kept cel.Fields
	made map[reflect.Type]*structPlan
}

func (p *planner) structOf(t reflect.Type) *structPlan {
	if known := p.made[t]; known != nil {
		return known
	}
	plan := &structPlan{fields: map[string]*fieldPlan{}}
	p.made[t] = plan
	p.addFields(plan, t.Name(), t, nil)
	return plan
}

// unmarshaler is implemented by types that decode themselves, such as times.
var unmarshaler = reflect.TypeFor[interface{ UnmarshalJSON(data []byte) error }]()

func (p *planner) addFields(plan *structPlan, owner string, t reflect.Type, path []int) {
	for i := range t.NumField() {
		goField := t.Field(i)
		index := append(slices.Clone(path), i)
		name, _, _ := strings.Cut(goField.Tag.Get("json"), ",")
		if name == "" {
			p.addFields(plan, owner, goField.Type, index)
			continue
		}
		field := &fieldPlan{index: index, kept: p.kept == nil || p.kept.Has(owner, name)}
		plan.fields[`"`+name+`"`] = field
		if !field.kept {
			continue
		}
		field.number = plan.kept
		plan.kept++
		element := goField.Type
		for element.Kind() == reflect.Pointer || element.Kind() == reflect.Slice {
			element = element.Elem()
		}
		if element.Kind() == reflect.Struct && !reflect.PointerTo(element).Implements(unmarshaler) {
			field.inner = p.structOf(element)
		}
	}
}

// Decoder decodes objects by a plan, one at a time.
type Decoder struct {
	plan   *Plan
	tokens jsontext.Decoder
	text   bytes.Buffer
}

// NewDecoder returns a decoder for use by one goroutine.
func (p *Plan) NewDecoder() *Decoder { return &Decoder{plan: p} }

// errRefused reports an object that does not match its type, or has a duplicate field.
var errRefused = errors.New("does not fit")

// Decode decodes the kept fields of a JSON object into a pointer to a zero value, and skips the others. It does not retain data.
// Its errors are not meant for users: on an error, the caller decodes the object again with another decoder to get a useful
// message.
func (d *Decoder) Decode(data []byte, object any) error {
	d.text = *bytes.NewBuffer(data)
	// Skipped fields may have duplicate names; checking them would cost more than everything else.
	d.tokens.Reset(&d.text, jsontext.AllowDuplicateNames(true))
	if err := d.object(reflect.ValueOf(object).Elem(), d.plan.object); err != nil {
		return err
	}
	if _, err := d.tokens.ReadToken(); !errors.Is(err, io.EOF) {
		return errRefused
	}
	return nil
}

func (d *Decoder) object(v reflect.Value, plan *structPlan) error {
	if err := d.begin('{'); err != nil {
		return err
	}
	var few [64]bool // on the stack
	seen := few[:]
	if plan.kept > len(few) {
		seen = make([]bool, plan.kept)
	}
	for d.tokens.PeekKind() == '"' {
		name, err := d.tokens.ReadValue()
		if err != nil {
			return err
		}
		field := plan.fields[string(name)]
		switch {
		case field == nil || field.kept && seen[field.number]:
			return errRefused
		case !field.kept:
			_, err = d.tokens.ReadValue() // faster than SkipValue
		default:
			seen[field.number] = true
			err = d.field(v, field)
		}
		if err != nil {
			return err
		}
	}
	_, err := d.tokens.ReadToken()
	return err
}

// begin reads the opening or closing token of an object or a list.
func (d *Decoder) begin(kind jsontext.Kind) error {
	token, err := d.tokens.ReadToken()
	if err == nil && token.Kind() != kind {
		return errRefused
	}
	return err
}

func (d *Decoder) field(v reflect.Value, field *fieldPlan) error {
	if d.tokens.PeekKind() == 'n' {
		return d.tokens.SkipValue()
	}
	for _, i := range field.index {
		v = v.Field(i)
	}
	if field.inner == nil {
		return d.leaf(v)
	}
	return d.inner(v, field.inner)
}

// inner decodes a struct, a pointer to a struct, or a list of structs.
func (d *Decoder) inner(v reflect.Value, plan *structPlan) error {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.inner(v.Elem(), plan)
	case reflect.Slice:
		if err := d.begin('['); err != nil {
			return err
		}
		v.Set(reflect.MakeSlice(v.Type(), 0, 1))
		for n := 0; d.tokens.PeekKind() == '{'; n++ {
			v.Grow(1)
			v.SetLen(n + 1)
			if err := d.inner(v.Index(n), plan); err != nil {
				return err
			}
		}
		return d.begin(']')
	}
	return d.object(v, plan)
}
