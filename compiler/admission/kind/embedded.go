package kind

import (
	"fmt"
	"maps"
	"slices"

	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Embedded locates the Job specs in an object of some kind, and records which parts of the path may
// be absent.
type Embedded struct {
	// List reports whether there is one Job spec for each element of a list.
	List bool
	// Optional reports whether some field on the path may be absent or null.
	Optional bool

	path     Path
	accesses []access
}

// access is one field on the path, relative to the field before it.
type access struct {
	name string
	// each reports whether the field is a list. The path continues in each of its elements.
	each bool
	// certain reports whether every non-null parent has this field.
	certain bool
	// nullable reports whether the field may be null; nullableElement, whether an element of its
	// list may be null.
	nullable, nullableElement bool
	// typed reports whether the type checker knows the field.
	typed bool
}

// Resolve follows a path to Job specs through the schema of a kind. It accepts any path below a
// schema that preserves unknown fields. The error is a *PathError.
func (k Kind) Resolve(p Path) (Embedded, error) {
	if len(p.steps) == 0 {
		return Embedded{}, p.fault(0, errNoName())
	}
	e := Embedded{path: p}
	current := k.Schema // nil if the schema is unknown
	for i, step := range p.steps {
		a, next, err := k.step(current, p, i)
		if err != nil {
			return Embedded{}, err
		}
		e.accesses = append(e.accesses, a)
		e.List = e.List || step.each
		e.Optional = e.Optional || !a.certain || a.nullable || a.each && a.nullableElement
		current = next
	}
	if err := checkJobSpec(current); err != nil {
		return Embedded{}, p.fault(p.steps[len(p.steps)-1].offset, fmt.Errorf("%s of %s %w", p, k.name(), err))
	}
	return e, nil
}

// Object returns an object that contains only one Job spec, at the path of e.
func (e Embedded) Object(jobSpec map[string]any) map[string]any {
	object := jobSpec
	for _, a := range slices.Backward(e.accesses) {
		var value any = object
		if a.each {
			value = []any{object}
		}
		object = map[string]any{a.name: value}
	}
	return object
}

// step returns the i-th access of a path and the schema of its value.
func (k Kind) step(s *spec.Schema, p Path, i int) (access, *spec.Schema, error) {
	step := p.steps[i]
	a := access{name: step.name, each: step.each, nullable: true, nullableElement: true}
	next, known := fieldSchema(s, step.name)
	if !known {
		if isOpen(s) {
			return a, nil, nil
		}
		return a, nil, p.fault(step.offset, errNoField(k.name(), p.before(i), step.name, s))
	}
	a.nullable, a.nullableElement = next.Nullable || isUntyped(next), isUntyped(next)
	a.certain = slices.Contains(s.Required, step.name) || next.Default != nil
	a.typed = isShown(step.name, next)
	end := step.offset + len(step.name)
	isList := next.Type.Contains("array") && next.Items != nil && next.Items.Schema != nil
	switch {
	case isList && step.each:
		a.nullableElement = next.Items.Schema.Nullable
		return a, next.Items.Schema, nil
	case isList:
		return a, nil, p.fault(end, fmt.Errorf("%s is a list: write %[1]s[*] for each element", p.text[:end]))
	case step.each && !isUntyped(next):
		return a, nil, p.fault(end, fmt.Errorf("%s is no list but of type %s: leave [*] out", p.text[:end], typeName(next)))
	case isUntyped(next):
		return a, nil, nil
	}
	return a, next, nil
}

// fieldSchema returns the schema of a field, or of a key of a map.
func fieldSchema(s *spec.Schema, name string) (*spec.Schema, bool) {
	if s == nil {
		return nil, false
	}
	if property, ok := s.Properties[name]; ok {
		return &property, true
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		return s.AdditionalProperties.Schema, true
	}
	return nil, false
}

// isOpen reports whether an object may have fields that are not in its schema.
func isOpen(s *spec.Schema) bool {
	return s == nil || preserves(s) || s.AdditionalProperties != nil && s.AdditionalProperties.Allows
}

func preserves(s *spec.Schema) bool {
	preserve, _ := s.Extensions.GetBool("x-kubernetes-preserve-unknown-fields")
	return preserve
}

// isUntyped reports whether a schema allows any value.
func isUntyped(s *spec.Schema) bool { return len(s.Type) == 0 && preserves(s) }

// isShown reports whether the type checker knows a field with this name and schema.
func isShown(name string, s *spec.Schema) bool {
	escaped, _ := apiservercel.Escape(name)
	return escaped == name && common.SchemaDeclType(&openapi.Schema{Schema: s}, false) != nil
}

// jobFields are fields of a Job spec that the specs of other workloads do not have.
var jobFields = []string{"backoffLimit", "completions", "parallelism", "podFailurePolicy"}

// checkJobSpec rejects a schema that lacks a Pod template or has none of the fields that only Jobs
// have. It accepts unknown fields.
func checkJobSpec(s *spec.Schema) error {
	current := s
	for _, name := range []string{"template", "spec", "containers"} {
		next, known := fieldSchema(current, name)
		if !known && isOpen(current) || known && isUntyped(next) {
			return nil
		}
		if !known {
			return errNoJobSpec("template.spec.containers")
		}
		current = next
	}
	for _, name := range jobFields {
		if _, known := fieldSchema(s, name); known || isOpen(s) {
			return nil
		}
	}
	return errNoJobSpec(jobFields...)
}

func fieldNames(s *spec.Schema) []string { return slices.Sorted(maps.Keys(s.Properties)) }

func typeName(s *spec.Schema) string {
	if (&openapi.Schema{Schema: s}).IsXIntOrString() {
		return "int-or-string"
	}
	if len(s.Type) == 0 {
		return "any"
	}
	return s.Type[0]
}

// name returns the name of the kind in messages: JobSet (jobset.x-k8s.io/v1alpha2).
func (k Kind) name() string {
	return fmt.Sprintf("%s (%s)", k.Kind, k.GroupVersion())
}
