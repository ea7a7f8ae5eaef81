package schema

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Fields is a set of fields by their types, as in PodStatus.phase, wherever a value of
// the type stands in an object. PodStatus.* is all of such a value.
type Fields map[string]bool

// NewFields returns a set of the named fields.
func NewFields(names ...string) Fields {
	f := Fields{}
	for _, name := range names {
		f[name] = true
	}
	return f
}

const wholeType = ".*"

// Has reports whether a field of a type is in the set.
func (f Fields) Has(typ, field string) bool { return f[typ+"."+field] || f[typ+wholeType] }

// Reaches reports whether the last field of a path through an object is in the set,
// itself or with all of a value around it.
func (f Fields) Reaches(path ...string) bool {
	return slices.ContainsFunc(path, func(name string) bool {
		typ, _, _ := strings.Cut(name, ".")
		return f[typ+wholeType]
	}) || f[path[len(path)-1]]
}

// Add puts a field of a type into the set, by any of the names that Type.Field takes.
func (f Fields) Add(t *Type, name string) {
	if field, ok := t.Field(name); ok {
		f[t.Name+"."+field.Name] = true
	}
}

// AddWhole puts all that values of a type have into the set.
func (f Fields) AddWhole(typ string) { f[typ+wholeType] = true }

// Covers reports whether this set has everything that another one has.
func (f Fields) Covers(other Fields) bool {
	for name := range other {
		if typ, field, _ := strings.Cut(name, "."); !f.Has(typ, field) {
			return false
		}
	}
	return true
}

// AddAll puts all that is in another set into this one.
func (f Fields) AddAll(other Fields) { maps.Copy(f, other) }

// Pruner empties fields of objects of one type.
type Pruner struct {
	// drops are the fields to empty, including those of embedded structs.
	drops [][]int
	parts []prunedPart
}

// prunedPart is a field with structs in it that are pruned themselves.
type prunedPart struct {
	index  []int
	pruner *Pruner
}

// Pruner returns a Pruner that empties all fields of an object of a type that are not
// kept. A field that is kept stays as present as it was, and a list as long.
func (s *Schema) Pruner(t *Type, kept Fields) *Pruner {
	return s.pruner(t, kept, map[*Type]*Pruner{})
}

func (s *Schema) pruner(t *Type, kept Fields, made map[*Type]*Pruner) *Pruner {
	if kept[t.Name+wholeType] {
		return nil
	}
	if p, ok := made[t]; ok {
		return p
	}
	p := &Pruner{}
	made[t] = p
	s.plan(p, t, t.goType, nil, kept, made)
	return p
}

// plan goes through the fields of a Go struct, and of those that it embeds.
func (s *Schema) plan(p *Pruner, t *Type, goType reflect.Type, path []int, kept Fields, made map[*Type]*Pruner) {
	for i := range goType.NumField() {
		field := goType.Field(i)
		index := append(slices.Clone(path), i)
		name, _ := jsonTag(field)
		if name == "" {
			s.plan(p, t, field.Type, index, kept, made)
			continue
		}
		if !kept.Has(t.Name, name) {
			p.drops = append(p.drops, index)
			continue
		}
		element := field.Type
		for element.Kind() == reflect.Pointer || element.Kind() == reflect.Slice {
			element = element.Elem()
		}
		if inner, ok := s.byGo[element]; ok {
			if pruner := s.pruner(inner, kept, made); pruner != nil {
				p.parts = append(p.parts, prunedPart{index, pruner})
			}
		}
	}
}

// Prune changes the object that a pointer refers to, which nobody else may use. A nil
// Pruner keeps all of it.
func (p *Pruner) Prune(pointer any) { p.prune(reflect.ValueOf(pointer).Elem()) }

func (p *Pruner) prune(v reflect.Value) {
	if p == nil {
		return
	}
	for _, index := range p.drops {
		v.FieldByIndex(index).SetZero()
	}
	for _, part := range p.parts {
		part.pruner.pruneEach(v.FieldByIndex(part.index))
	}
}

// pruneEach goes to the structs behind pointers and in lists, which lose the room that
// they have for more.
func (p *Pruner) pruneEach(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			p.pruneEach(v.Elem())
		}
	case reflect.Slice:
		if v.Cap() > v.Len() {
			exact := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(exact, v)
			v.Set(exact)
		}
		for i := range v.Len() {
			p.pruneEach(v.Index(i))
		}
	default:
		p.prune(v)
	}
}
