package custom

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/cel"
)

// Reads are the fields that the expressions of a policy may read. On an object reduced to these fields, the expressions have
// the same values as on the whole object.
type Reads struct {
	Pod, Job cel.Fields
	// Node is not empty if an expression mentions the node, or if a rule is on Terminating, because such a rule decides only
	// if the node is not Ready.
	Node cel.Fields
}

// readiness lists the Node fields that rules on Terminating read.
var readiness = cel.NewFields(
	"Node.metadata", "ObjectMeta.name", "Node.status", "NodeStatus.conditions", "NodeCondition.type", "NodeCondition.status",
)

// NewReads returns empty Reads.
func NewReads() Reads { return Reads{cel.Fields{}, cel.Fields{}, cel.Fields{}} }

// Add adds the fields that other expressions read.
func (r Reads) Add(other Reads) {
	r.Pod.AddAll(other.Pod)
	r.Job.AddAll(other.Job)
	r.Node.AddAll(other.Node)
}

// origin records the objects to which a value, or a part of it, may refer.
type origin struct{ pod, job, node bool }

// read adds an expression's reads to the policy's, and returns the possible origins of its value.
//
// An expression can access a part of an object only by selecting a field of a value whose type the checker knows. Its reads
// are therefore the fields that it selects, and all fields of the types whose values cannot be tracked further.
func (c *compilation) read(tree *ast.AST) origin {
	r := reading{schema: c.environment.Schema, tree: tree, reads: c.reads, fields: cel.Fields{}}
	Visit(tree.Expr(), nil, r.see)
	if mentions(tree.Expr(), compiler.AttemptsVariable) {
		c.readsAttempts = true
		c.reads.Pod.AddAll(cel.NewFields(cel.AttemptReads...)) // fields of the pods of earlier attempts
	}
	from := c.origin(tree.Expr())
	if from.pod {
		c.reads.Pod.AddAll(r.fields)
	}
	if from.job {
		c.reads.Job.AddAll(r.fields)
	}
	if from.node {
		c.reads.Node.AddAll(r.fields)
		c.reads.Node.AddAll(cel.NewFields("Node.metadata", "ObjectMeta.name"))
	}
	if len(objectsIn(tree.GetType(tree.Expr().ID()))) == 0 {
		return origin{} // the value contains no object
	}
	return from
}

// origin returns the objects that an expression mentions, directly or through a variable.
func (c *compilation) origin(e ast.Expr) (from origin) {
	Visit(e, nil, func(e ast.Expr, locals []string) {
		if e.Kind() != ast.IdentKind || slices.Contains(locals, e.AsIdent()) {
			return
		}
		name := e.AsIdent()
		from.pod = from.pod || name == compiler.PodVariable
		from.job = from.job || name == compiler.JobVariable
		from.node = from.node || name == compiler.NodeVariable
		for _, v := range c.variables {
			if name == VariableName(v.name) {
				from.pod, from.job, from.node = from.pod || v.origin.pod, from.job || v.origin.job, from.node || v.origin.node
			}
		}
	})
	return from
}

// reading finds the fields that one expression reads.
type reading struct {
	schema *cel.Schema
	tree   *ast.AST
	// reads are the policy's reads. Fields that may belong to any of the mentioned objects are in fields.
	reads  Reads
	fields cel.Fields
}

func (r *reading) see(e ast.Expr, locals []string) {
	switch e.Kind() {
	case ast.SelectKind:
		r.selects(e.AsSelect().Operand(), e.AsSelect().FieldName(), locals)
	case ast.CallKind:
		r.call(e, locals)
	case ast.ListKind, ast.MapKind, ast.StructKind:
		for _, child := range children(e) {
			r.flows(child, e)
		}
	case ast.ComprehensionKind: // in a loop, each element has its own type wherever it is mentioned
		loop := e.AsComprehension()
		r.flows(loop.LoopStep(), loop.AccuInit())
		r.flows(loop.Result(), e)
	default:
	}
}

// owned returns the field set of the object from which a value is selected, or r.fields if the object is not known.
func (r *reading) owned(e ast.Expr, locals []string) cel.Fields {
	for operandOf(e) != nil {
		e = operandOf(e)
	}
	if e.Kind() != ast.IdentKind || slices.Contains(locals, e.AsIdent()) {
		return r.fields
	}
	switch e.AsIdent() {
	case compiler.PodVariable:
		return r.reads.Pod
	case compiler.JobVariable:
		return r.reads.Job
	case compiler.NodeVariable:
		return r.reads.Node
	default:
		return r.fields
	}
}

// selects adds the selected field.
func (r *reading) selects(operand ast.Expr, field string, locals []string) {
	t := objectOf(r.tree.GetType(operand.ID()))
	if t.Kind() != types.StructKind {
		return
	}
	if object, ok := r.schema.Type(t.TypeName()); ok {
		r.owned(operand, locals).Add(object, field)
		return
	}
	for _, name := range cel.ReadBy(t.TypeName(), field) {
		r.fields[name] = true
	}
}

// call adds the fields that a function reads.
func (r *reading) call(e ast.Expr, locals []string) {
	call := e.AsCall()
	if f, ok := r.function(call); ok {
		fields := r.owned(call.Target(), locals)
		for _, name := range f.Reads {
			fields[name] = true
		}
		return
	}
	switch call.FunctionName() {
	case operators.OptSelect:
		r.selects(call.Args()[0], fieldOf(e), locals)
	case "size", "hasValue": // reads no element
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

// function returns the called library function, if it is a method of an object.
func (r *reading) function(call ast.CallExpr) (f cel.Function, ok bool) {
	if !call.IsMemberFunction() {
		return f, false
	}
	receiver := objectOf(r.tree.GetType(call.Target().ID()))
	i := slices.IndexFunc(cel.Functions, func(f cel.Function) bool {
		return f.Name == call.FunctionName() && f.Receiver == receiver.TypeName() && f.Receiver != "int"
	})
	if i < 0 {
		return f, false
	}
	return cel.Functions[i], true
}

// flows adds the reads for a value that becomes another expression's value or a part of it. If that expression's type does
// not include the value's type, the value can no longer be tracked, and all its fields are added.
func (r *reading) flows(from, to ast.Expr) {
	known := objectsIn(r.tree.GetType(to.ID()))
	r.whole(slices.DeleteFunc(objectsIn(r.tree.GetType(from.ID())), func(name string) bool { return slices.Contains(known, name) }))
}

// whole adds all fields of the types.
func (r *reading) whole(names []string) {
	for _, name := range names {
		if _, ok := r.schema.Type(name); ok {
			r.fields.AddWhole(name)
			continue
		}
		for _, name := range cel.ReadBy(name, "") {
			r.fields[name] = true
		}
	}
}

// objectsIn returns the names of the object types that a value of a type may contain.
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
