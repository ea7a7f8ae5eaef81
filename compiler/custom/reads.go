package custom

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/library"
	"github.com/podverdict/podverdict/compiler/schema"
)

// Reads are the fields that the expressions of a policy may look at. On an object that
// has no other fields, the expressions have the same values as on the whole object.
type Reads struct{ Pod, Job schema.Fields }

// NewReads returns the reads of no expression.
func NewReads() Reads { return Reads{schema.Fields{}, schema.Fields{}} }

// Add adds what other expressions read.
func (r Reads) Add(other Reads) {
	r.Pod.AddAll(other.Pod)
	r.Job.AddAll(other.Job)
}

// origin says to which objects, or parts of them, a value may refer.
type origin struct{ pod, job bool }

// read adds what an expression reads to what the policy does, and returns where its
// value may come from.
//
// An expression gets at a part of an object in one way only: by selecting a field of a
// value whose type the checker knows. So what it reads are the fields that it selects,
// and all fields of the types whose values go where nobody can follow them.
func (c *compilation) read(tree *ast.AST) origin {
	r := reading{schema: c.environment.Schema, tree: tree, fields: schema.Fields{}}
	Visit(tree.Expr(), nil, func(e ast.Expr, _ []string) { r.see(e) })
	from := c.origin(tree.Expr())
	if from.pod {
		c.reads.Pod.AddAll(r.fields)
	}
	if from.job {
		c.reads.Job.AddAll(r.fields)
	}
	if len(objectsIn(tree.GetType(tree.Expr().ID()))) == 0 {
		return origin{} // no object is in the value
	}
	return from
}

// origin returns which objects an expression names, itself or by a variable.
func (c *compilation) origin(e ast.Expr) (from origin) {
	Visit(e, nil, func(e ast.Expr, _ []string) {
		if e.Kind() != ast.IdentKind {
			return
		}
		name := e.AsIdent()
		from.pod = from.pod || name == compiler.PodVariable
		from.job = from.job || name == compiler.JobVariable
		for _, v := range c.variables {
			if name == VariableName(v.name) {
				from.pod, from.job = from.pod || v.origin.pod, from.job || v.origin.job
			}
		}
	})
	return from
}

// reading finds the fields that one expression reads.
type reading struct {
	schema *schema.Schema
	tree   *ast.AST
	fields schema.Fields
}

func (r *reading) see(e ast.Expr) {
	switch e.Kind() {
	case ast.SelectKind:
		r.selects(e.AsSelect().Operand(), e.AsSelect().FieldName())
	case ast.CallKind:
		r.call(e)
	case ast.ListKind, ast.MapKind, ast.StructKind:
		for _, child := range children(e) {
			r.flows(child, e)
		}
	case ast.ComprehensionKind: // the elements that a loop goes through have a type of their own wherever it names them
		loop := e.AsComprehension()
		r.flows(loop.LoopStep(), loop.AccuInit())
		r.flows(loop.Result(), e)
	default:
	}
}

// selects adds the field that is selected.
func (r *reading) selects(operand ast.Expr, field string) {
	t := r.tree.GetType(operand.ID())
	if isOptional(t) {
		t = t.Parameters()[0]
	}
	if t.Kind() != types.StructKind {
		return
	}
	if object, ok := r.schema.Type(t.TypeName()); ok {
		r.fields.Add(object, field)
		return
	}
	for _, name := range library.ReadBy(t.TypeName(), field) {
		r.fields[name] = true
	}
}

// call adds what a function looks at.
func (r *reading) call(e ast.Expr) {
	call := e.AsCall()
	if call.IsMemberFunction() && r.tree.GetType(call.Target().ID()).TypeName() == r.schema.Pod.Name {
		if f := slices.IndexFunc(library.Functions, func(f library.Function) bool { return f.Name == call.FunctionName() }); f >= 0 {
			for _, name := range library.Functions[f].Reads {
				r.fields[name] = true
			}
			return
		}
	}
	switch call.FunctionName() {
	case operators.OptSelect:
		r.selects(call.Args()[0], fieldOf(e))
	case "size", "hasValue": // which look at no element
	case operators.Conditional, operators.Index, operators.OptIndex, operators.Add, "or", "orValue", "value", "optional.of":
		for _, child := range children(e) {
			r.flows(child, e)
		}
	default:
		for _, child := range children(e) {
			r.whole(objectsIn(r.tree.GetType(child.ID())))
		}
	}
}

// flows adds what is read of a value that becomes a value of another expression, or part
// of one. If the type of that expression does not tell, nobody can follow the value.
func (r *reading) flows(from, to ast.Expr) {
	known := objectsIn(r.tree.GetType(to.ID()))
	r.whole(slices.DeleteFunc(objectsIn(r.tree.GetType(from.ID())), func(name string) bool { return slices.Contains(known, name) }))
}

// whole adds all fields of types.
func (r *reading) whole(names []string) {
	for _, name := range names {
		if _, ok := r.schema.Type(name); ok {
			r.fields.AddWhole(name)
			continue
		}
		for _, name := range library.ReadBy(name, "") {
			r.fields[name] = true
		}
	}
}

// objectsIn returns the names of the types of objects that a value of a type may contain.
func objectsIn(t *types.Type) []string {
	var names []string
	if t.Kind() == types.StructKind {
		names = append(names, t.TypeName())
	}
	for _, part := range t.Parameters() {
		names = append(names, objectsIn(part)...)
	}
	return names
}
