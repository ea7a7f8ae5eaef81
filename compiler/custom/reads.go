package custom

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/cel"
)

// Reads are the fields that the expressions of a policy may look at. On an object that
// has no other fields, the expressions have the same values as on the whole object.
type Reads struct {
	Pod, Job cel.Fields
	// Node is not empty if an expression mentions the node at all, or if a rule is on Terminating: it decides only where the
	// node is not Ready.
	Node cel.Fields
}

// readiness is what rules on Terminating read of the node.
var readiness = cel.NewFields(
	"Node.metadata", "ObjectMeta.name", "Node.status", "NodeStatus.conditions", "NodeCondition.type", "NodeCondition.status",
)

// NewReads returns the reads of no expression.
func NewReads() Reads { return Reads{cel.Fields{}, cel.Fields{}, cel.Fields{}} }

// Add adds what other expressions read.
func (r Reads) Add(other Reads) {
	r.Pod.AddAll(other.Pod)
	r.Job.AddAll(other.Job)
	r.Node.AddAll(other.Node)
}

// origin says to which objects, or parts of them, a value may refer.
type origin struct{ pod, job, node bool }

// read adds what an expression reads to what the policy does, and returns where its
// value may come from.
//
// An expression gets at a part of an object in one way only: by selecting a field of a
// value whose type the checker knows. So what it reads are the fields that it selects,
// and all fields of the types whose values go where nobody can follow them.
func (c *compilation) read(tree *ast.AST) origin {
	r := reading{schema: c.environment.Schema, tree: tree, reads: c.reads, fields: cel.Fields{}}
	Visit(tree.Expr(), nil, r.see)
	if mentions(tree.Expr(), compiler.AttemptsVariable) {
		c.readsAttempts = true
		c.reads.Pod.AddAll(cel.NewFields(cel.AttemptReads...)) // of the pods that were the attempts
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
		return origin{} // no object is in the value
	}
	return from
}

// origin returns which objects an expression names, itself or by a variable.
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
	// reads are those of the policy. Fields of all objects that the expression names are in fields.
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
	case ast.ComprehensionKind: // the elements that a loop goes through have a type of their own wherever it names them
		loop := e.AsComprehension()
		r.flows(loop.LoopStep(), loop.AccuInit())
		r.flows(loop.Result(), e)
	default:
	}
}

// owned returns the fields of the object that a value is selected from, or those of all objects if that is not known.
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

// selects adds the field that is selected.
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

// call adds what a function looks at.
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

// function returns the library's function that is called, if it is one of an object.
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
		for _, name := range cel.ReadBy(name, "") {
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
