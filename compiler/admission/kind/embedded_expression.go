package kind

import (
	"strconv"
	"strings"
)

// Specs returns a CEL expression for the Job specs. If neither List nor Optional is set, there
// is always exactly one, and the expression is the spec itself. Otherwise it is a list of the
// specs that are present.
func (e Embedded) Specs() string {
	return e.render(func(spec, _ string) string { return spec })
}

// Roots returns a CEL expression for the paths of the Job specs, in the order of Specs: a
// string if Specs is one spec, and otherwise a list of strings.
func (e Embedded) Roots() string {
	return e.render(func(_, root string) string { return root })
}

// render returns the CEL that applies result to each spec and its path.
func (e Embedded) render(result func(spec, root string) string) string {
	if !e.List {
		return e.renderOne(result)
	}
	last := e.listIndex()
	listPath := strings.SplitN(e.path.text, each, 2)
	root := strconv.Quote(listPath[0]+"[") + ` + string(i) + ` + strconv.Quote("]"+listPath[1])
	element := e.accesses[last+1:]
	arguments := []string{"i", "e"}
	if condition := presence("e", e.accesses[last].nullableElement, element); condition != "" {
		arguments = append(arguments, condition)
	}
	arguments = append(arguments, result(value("e", element), root))
	return list(e.accesses[:last+1]) + ".transformList(" + strings.Join(arguments, ", ") + ")"
}

func (e Embedded) renderOne(result func(spec, root string) string) string {
	spec := result(value("object", e.accesses), strconv.Quote(e.path.text))
	if condition := presence("object", false, e.accesses); condition != "" {
		return condition + " ? [" + spec + "] : []"
	}
	return spec
}

func (e Embedded) listIndex() int {
	for i, a := range e.accesses {
		if a.each {
			return i
		}
	}
	return -1
}

// value returns the CEL that selects all fields. They must be present.
func value(root string, accesses []access) string {
	x := root
	for _, a := range accesses {
		x = a.of(x, false)
	}
	return x
}

// chain returns the CEL that selects all fields that are present. Its value is optional from
// the first field that may be absent, or that follows a field that may be null.
func chain(root string, nullable bool, accesses []access) (x string, optional bool) {
	x = root
	for _, a := range accesses {
		optional = optional || nullable || !a.certain
		x = a.of(x, optional)
		nullable = a.nullable
	}
	return x, optional
}

// presence returns a condition that is true when all fields are present and the last one is
// not null. It is empty if that always holds. The argument nullable reports whether the root
// itself may be null.
func presence(root string, nullable bool, accesses []access) string {
	var conditions []string
	if x, optional := chain(root, nullable, accesses); optional {
		conditions = append(conditions, x+".hasValue()")
	}
	for _, a := range accesses {
		nullable = a.nullable
	}
	if nullable {
		conditions = append(conditions, "dyn("+value(root, accesses)+") != null")
	}
	return strings.Join(conditions, " && ")
}

// list returns the CEL of the list at the last access, or of an empty list if it is absent.
func list(accesses []access) string {
	x, optional := chain("object", false, accesses)
	if optional {
		x += ".orValue([])"
	}
	if accesses[len(accesses)-1].nullable {
		x = "optional.ofNonZeroValue(" + x + ").orValue([])"
	}
	return x
}

// of returns the CEL that selects the field of x. The API server gives admission policies
// fields under their own names, but declares them to the type checker under escaped names, and
// omits some. dyn disables type checking for these.
func (a access) of(x string, optional bool) string {
	switch {
	case a.typed && optional:
		return x + ".?" + a.name
	case a.typed:
		return x + "." + a.name
	case optional:
		return "dyn(" + x + ")[?" + strconv.Quote(a.name) + "]"
	}
	return "dyn(" + x + ")[" + strconv.Quote(a.name) + "]"
}
