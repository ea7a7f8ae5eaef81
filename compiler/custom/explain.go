package custom

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/compiler/custom/library"
	"github.com/podverdict/podverdict/compiler/custom/metered"
)

// Explanation says why a rule matches a pod or not, or why a match condition is true of
// a Job or not.
type Explanation struct {
	// Rule is the rule's index, or that of the match condition.
	Rule int
	// Field is the path of the expression, as in spec.rules[2].when, and Expression its
	// text.
	Field, Expression string
	// Holds is whether the expression is true. It may also be true for rules after the
	// one that decides.
	Holds bool
	// Cost is what the expression has cost, in the API server's units.
	Cost uint64
	// Err is why it could not be evaluated.
	Err error
	// Values are the parts of the expression that are joined by && and ||, and what
	// they compare, in the order of the text. Each is evaluated on its own. Variables
	// are told where they are first used: one that is a bool with its own parts.
	Values []Value
	// Decisive are those of the parts that make an expression false.
	Decisive []Value
	// Elements are the containers that the expression goes through.
	Elements []Element
	// Omitted is how many more there are.
	Omitted int
}

// Element is a container that an expression goes through.
type Element struct {
	// List is what it is part of, as CEL.
	List string
	Kind library.Kind
	Name string
	// Observed is its state: its exit code if it has one.
	Observed string
	// Matched is whether the predicate is true of it.
	Matched bool
	// Values are the parts of the predicate.
	Values []Value
}

// Value is a part of an expression and its value, both as CEL, or its error.
type Value struct {
	Expression string
	Value      string
}

// maxExplained is how many containers of a rule are explained. No pod has so many but
// by mistake.
const maxExplained = 50

// Explain evaluates every rule about the pod's phase on CEL's interpreter, part by
// part. The error is that of a context which is done.
func (p *Policy) Explain(ctx context.Context, in Input) ([]Explanation, error) {
	e := p.begin(ctx, in)
	defer e.end()
	var all []Explanation
	for i := range p.rules {
		if p.rules[i].phase == in.Pod.Status.Phase {
			all = append(all, e.explain(i, &p.rules[i].when))
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx) // what was cut short is no explanation
	}
	return all, nil
}

// ExplainConditions evaluates every match condition, as Explain does the rules.
func (p *Policy) ExplainConditions(ctx context.Context, job *batchv1.Job) ([]Explanation, error) {
	e := p.begin(ctx, Input{Pod: &noPod, Job: job})
	defer e.end()
	var all []Explanation
	for i := range p.conditions {
		all = append(all, e.explain(i, &p.conditions[i]))
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return all, nil
}

func (e *evaluation) explain(i int, x *expression) Explanation {
	explained := Explanation{Rule: i, Field: x.place.path, Expression: x.place.text}
	value, err := e.interpret(x)
	if e.interpreter != nil {
		explained.Cost, e.interpreter.spent = e.interpreter.spent, 0
	}
	explained.Holds = value == types.True
	if err != nil {
		explained.Err = &EvaluationError{Rule: x.place.rule, Field: x.place.path, Err: err}
	}
	if e.interpreter == nil {
		return explained
	}
	e.interpreter.explain(x, &explained, map[string]bool{}, func(p *parts) {
		explained.Values = p.of(p.tree.Expr())
		if value == types.False {
			explained.Decisive = p.decisive(p.tree.Expr(), types.False)
		}
	})
	e.interpreter.spent = 0
	return explained
}

// explain takes an expression apart. The variables are those that are told already.
func (i *interpreter) explain(x *expression, into *Explanation, told map[string]bool, tell func(*parts)) {
	d, _ := x.dissections.Get().(*dissection)
	if d == nil {
		return
	}
	tell(&parts{interpreter: i, dissection: d, names: i, into: into, told: told})
	x.dissections.Put(d)
}

// parts evaluates the parts of an expression.
type parts struct {
	*interpreter
	*dissection

	names cel.Activation
	into  *Explanation
	told  map[string]bool // names of variables
}

// of goes down through && and ||, and lists what they join.
func (p *parts) of(e ast.Expr) []Value {
	if e.Kind() == ast.CallKind {
		switch call := e.AsCall(); call.FunctionName() {
		case operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Conditional:
			var values []Value
			for _, arg := range call.Args() {
				for _, v := range p.of(arg) {
					if !slices.Contains(values, v) {
						values = append(values, v)
					}
				}
			}
			return values
		}
	}
	return p.part(e)
}

// part is one of them: its operand, if it has one, and itself, and the variables in it.
// Of a loop over containers, each container is explained.
func (p *parts) part(e ast.Expr) []Value {
	if e.Kind() == ast.LiteralKind {
		return nil
	}
	var values []Value
	if e.Kind() == ast.CallKind {
		if call := e.AsCall(); !call.IsMemberFunction() && len(call.Args()) == 2 && call.Args()[0].Kind() != ast.LiteralKind {
			values = append(values, p.value(call.Args()[0]))
		}
	}
	values = append(values, p.value(e))
	visit(e, nil, func(inner ast.Expr, locals []string) {
		switch {
		case inner.Kind() == ast.ComprehensionKind && len(locals) == 0:
			p.loop(inner)
		case inner.Kind() == ast.IdentKind:
			values = append(values, p.variable(inner, inner == e)...)
		}
	})
	return values
}

// variable tells of one, but of what it is worth only if that is not told already.
func (p *parts) variable(e ast.Expr, told bool) (values []Value) {
	i, known := p.policy.numbers[e.AsIdent()]
	if !known || p.told[e.AsIdent()] {
		return nil
	}
	p.told[e.AsIdent()] = true
	if !told {
		values = append(values, p.value(e))
	}
	p.interpreter.explain(&p.policy.variables[i].expression, p.into, p.told, func(inner *parts) {
		parts := inner.of(inner.tree.Expr())
		if p.policy.variables[i].typ != types.BoolType { // the parts of other values say little
			parts = slices.DeleteFunc(parts, func(v Value) bool { return !strings.HasPrefix(v.Expression, VariablesVariable+".") })
		}
		values = append(values, parts...)
	})
	return values
}

// decisive goes down to the parts that make an expression what it is.
func (p *parts) decisive(e ast.Expr, is types.Bool) []Value {
	if e.Kind() == ast.CallKind {
		switch call := e.AsCall(); call.FunctionName() {
		case operators.LogicalNot:
			return p.decisive(call.Args()[0], !is)
		case operators.LogicalAnd, operators.LogicalOr:
			var all []Value
			one := (call.FunctionName() == operators.LogicalAnd) != bool(is) // of the two is enough
			for _, arg := range call.Args() {
				if v, err := p.evaluate(unparse(p.tree, arg)); err == nil && v == is {
					if all = append(all, p.decisive(arg, is)...); one {
						break
					}
				}
			}
			return all
		}
	}
	return []Value{p.value(e)}
}

func (p *parts) value(e ast.Expr) Value {
	text := unparse(p.tree, e)
	v, err := p.evaluate(text)
	if err != nil {
		return Value{text, "error: " + err.Error()}
	}
	return Value{text, show(v)}
}

func (p *parts) evaluate(text string) (ref.Val, error) {
	return p.eval(func() (*metered.Program, error) { return p.plan(text) }, p.names)
}

// loop explains each container that a quantifier looks at.
func (p *parts) loop(e ast.Expr) {
	macro, ok := p.tree.SourceInfo().GetMacroCall(e.ID())
	if !ok || len(macro.AsCall().Args()) != 2 || macro.AsCall().FunctionName() == operators.Map || p.names != cel.Activation(p.interpreter) {
		return
	}
	loop := e.AsComprehension()
	list := unparse(p.tree, loop.IterRange())
	value, err := p.evaluate(list)
	if err != nil {
		return
	}
	containers, ok := value.(traits.Lister)
	if !ok {
		return
	}
	predicate := unparse(p.tree, macro.AsCall().Args()[1])
	for it := containers.Iterator(); it.HasNext() == types.True; {
		element := it.Next()
		c, ok := element.Value().(library.Container)
		if !ok {
			return
		}
		if len(p.into.Elements) == maxExplained {
			p.into.Omitted++
			continue
		}
		p.into.Elements = append(p.into.Elements, p.element(list, loop.IterVar(), predicate, element, c))
	}
}

// element evaluates a predicate for one container.
func (p *parts) element(list, name, text string, value ref.Val, c library.Container) Element {
	e := Element{List: list, Kind: c.Kind, Name: c.Status.Name, Observed: observed(c)}
	of := predicate{name, text}
	d := p.predicate(of, cel.Variable(name, types.NewObjectType(library.ContainerName)))
	if d == nil {
		return e
	}
	inside := &parts{interpreter: p.interpreter, dissection: d, names: local{p.interpreter, name, value}, into: p.into, told: p.told}
	matched, err := inside.evaluate(text)
	e.Matched = err == nil && matched == types.True
	e.Values = inside.of(d.tree.Expr())
	return e
}

// local knows a name besides those of the interpreter.
type local struct {
	*interpreter

	name  string
	value ref.Val
}

func (l local) ResolveName(name string) (any, bool) {
	if name == l.name {
		return l.value, true
	}
	return l.interpreter.ResolveName(name)
}

func observed(c library.Container) string {
	switch s := c.Status.State; {
	case s.Terminated != nil:
		return "exit code " + strconv.Itoa(int(s.Terminated.ExitCode))
	case s.Running != nil:
		return library.StateRunning
	default:
		return library.StateWaiting
	}
}
