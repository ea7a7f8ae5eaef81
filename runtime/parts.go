package runtime

import (
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime/internal/closure"
)

// parts evaluates the parts of an expression, each separately.
type parts struct {
	*interpreter
	*dissection

	names cel.Activation
	into  *RuleExplanation
	told  map[string]bool // variables that are already explained
}

// explain calls tell with the parts of an expression. The variables in told are already explained.
func (i *interpreter) explain(x *expression, into *RuleExplanation, told map[string]bool, tell func(*parts)) error {
	return x.dissect(func(d *dissection) {
		tell(&parts{interpreter: i, dissection: d, names: i, into: into, told: told})
	})
}

// of returns the values of the operands of && and || at any depth.
func (p *parts) of(e ast.Expr) []Value {
	if e.Kind() != ast.CallKind {
		return p.part(e)
	}
	call := e.AsCall()
	switch operator := call.FunctionName(); {
	case operator == operators.LogicalNot && p.isOwnPredicate():
		return append(p.operand(call.Args()[0]), p.value(e))
	case operator == operators.LogicalAnd || operator == operators.LogicalOr || operator == operators.LogicalNot || operator == operators.Conditional:
		var values []Value
		for i, arg := range call.Args() {
			if i > 0 && p.isOwnPredicate() && p.decides(operator, call.Args()[i-1]) {
				break
			}
			values = union(values, p.of(arg))
		}
		return values
	default:
		return p.part(e)
	}
}

// isOwnPredicate reports whether the parts belong to the predicate of a podFailurePolicy. Its explanation omits operands that
// && and || did not need.
func (p *parts) isOwnPredicate() bool {
	return p.match != nil && p.names != cel.Activation(p.interpreter)
}

func union(values, more []Value) []Value {
	for _, v := range more {
		if !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

// decides reports whether the left operand of && or || settles the result.
func (p *parts) decides(operator string, left ast.Expr) bool {
	v, err := p.evaluate(left)
	return err == nil && v == types.Bool(operator == operators.LogicalOr)
}

// part returns the values for one operand: first its left side if it is a comparison, then the operand, then the variables in
// it. It also explains the elements of the loops in it.
func (p *parts) part(e ast.Expr) []Value {
	if e.Kind() == ast.LiteralKind {
		return nil
	}
	values := append(p.operand(e), p.value(e))
	custom.Visit(e, nil, func(inner ast.Expr, locals []string) {
		switch {
		case inner.Kind() == ast.ComprehensionKind && len(locals) == 0:
			p.loop(inner)
		case inner.Kind() == ast.IdentKind:
			values = append(values, p.variable(inner, inner == e)...)
		}
	})
	return values
}

// operand returns the value of the left side of a comparison.
func (p *parts) operand(e ast.Expr) []Value {
	if e.Kind() == ast.CallKind {
		if call := e.AsCall(); !call.IsMemberFunction() && len(call.Args()) == 2 && call.Args()[0].Kind() != ast.LiteralKind {
			return []Value{p.value(call.Args()[0])}
		}
	}
	return nil
}

// variable explains a variable on its first use. It omits the variable's own value if the caller has listed it.
func (p *parts) variable(e ast.Expr, told bool) (values []Value) {
	i, known := p.policy.variableNumbers[e.AsIdent()]
	if !known || p.told[e.AsIdent()] {
		return nil
	}
	p.told[e.AsIdent()] = true
	if !told {
		values = append(values, p.value(e))
	}
	v := &p.policy.variables[i]
	_ = p.interpreter.explain(v.expression, p.into, p.told, func(inner *parts) {
		parts := inner.of(inner.tree.Expr())
		if !v.isBool() { // the parts of other values explain little
			parts = slices.DeleteFunc(parts, func(v Value) bool { return !strings.HasPrefix(v.Expression, compiler.VariablesVariable+".") })
		}
		values = append(values, parts...)
	}) // cannot fail: the expression was checked before
	return values
}

// decisive returns the smallest parts that make an expression true or false.
func (p *parts) decisive(e ast.Expr, is types.Bool) []Value {
	if e.Kind() == ast.CallKind {
		switch call := e.AsCall(); call.FunctionName() {
		case operators.LogicalNot:
			return p.decisive(call.Args()[0], !is)
		case operators.LogicalAnd, operators.LogicalOr:
			var all []Value
			one := (call.FunctionName() == operators.LogicalAnd) != bool(is) // a single operand decides
			for _, arg := range call.Args() {
				if v, err := p.evaluate(arg); err == nil && v == is {
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
	v, err := p.evaluate(e)
	if err != nil {
		return Value{p.text(e), "error: " + err.Error()}
	}
	return Value{p.text(e), show(v)}
}

func (p *parts) evaluate(e ast.Expr) (ref.Val, error) {
	program, err := p.plan(e)
	if err != nil {
		return nil, err
	}
	return p.eval(program, p.names)
}

// loop explains each element that exists, all or filter iterates over.
func (p *parts) loop(e ast.Expr) {
	loop := e.AsComprehension()
	predicate := closure.Predicate(loop)
	if predicate == nil || p.names != cel.Activation(p.interpreter) {
		return
	}
	value, err := p.evaluate(loop.IterRange())
	if err != nil {
		return
	}
	list, ok := value.(traits.Lister)
	if !ok {
		return
	}
	for it := list.Iterator(); it.HasNext() == types.True; {
		value := it.Next()
		element, ok := p.element(value)
		if !ok {
			return
		}
		inside := &parts{interpreter: p.interpreter, dissection: p.dissection, names: local{p.interpreter, loop.IterVar(), value}, into: p.into, told: p.told}
		matched, err := inside.evaluate(predicate)
		element.Matched = err == nil && matched == types.True
		if len(p.into.Elements) >= maxExplained && !p.isFirstMatch(element.Matched) {
			p.into.Omitted++
			continue
		}
		element.Values = inside.of(predicate)
		p.into.Elements = append(p.into.Elements, element)
	}
}

// isFirstMatch reports whether an element is the first one that matches.
func (p *parts) isFirstMatch(matched bool) bool {
	return matched && !slices.ContainsFunc(p.into.Elements, func(e ElementExplanation) bool { return e.Matched })
}

// maxExplained is the maximum number of explained elements of a rule, in addition to the first one that matches. Only a
// broken pod has more.
const maxExplained = 50

// local resolves the variable of a loop. The interpreter resolves all other names.
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
