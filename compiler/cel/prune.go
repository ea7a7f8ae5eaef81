package cel

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Fields is a set of fields, named by type as in PodStatus.phase. A name applies wherever the type occurs in an object.
// PodStatus.* stands for the whole value.
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

// Reaches reports whether the set includes the last field of a path through an object, or a whole value that contains it.
func (f Fields) Reaches(path ...string) bool {
	return slices.ContainsFunc(path, func(name string) bool {
		typ, _, _ := strings.Cut(name, ".")
		return f[typ+wholeType]
	}) || f[path[len(path)-1]]
}

// Add adds a field of a type, by any name that Type.Field accepts.
func (f Fields) Add(t *Type, name string) {
	if field, ok := t.Field(name); ok {
		f[t.Name+"."+field.Name] = true
	}
}

// AddWhole adds all fields of a type.
func (f Fields) AddWhole(typ string) { f[typ+wholeType] = true }

// Covers reports whether this set includes all fields of another set.
func (f Fields) Covers(other Fields) bool {
	for name := range other {
		if typ, field, _ := strings.Cut(name, "."); !f.Has(typ, field) {
			return false
		}
	}
	return true
}

// AddAll adds all fields of another set.
func (f Fields) AddAll(other Fields) { maps.Copy(f, other) }

// Pruner clears fields in objects of one type.
type Pruner struct {
	// drops are the index paths of the fields to clear, including fields of embedded structs.
	drops [][]int
	parts []prunedPart
}

// prunedPart is a field that contains structs to prune.
type prunedPart struct {
	index  []int
	pruner *Pruner
}

// Pruner returns a Pruner that clears all fields of a type except the kept ones. Kept fields stay present or absent, and
// kept lists keep their length.
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

// plan adds the fields of a Go struct and of the structs that it embeds.
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

// Prune prunes an object in place. It must not be called while the object is in use elsewhere. A nil Pruner does nothing.
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

// pruneEach prunes the structs behind pointers and in lists, and removes the spare capacity of lists.
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
