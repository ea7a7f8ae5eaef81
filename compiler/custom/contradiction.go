package custom

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/compiler/cel"
)

// conjunction returns the verdict on terms joined by &&, or on a single term. It compares the constraints
// that the terms put on the same operand.
func (r *reachability) conjunction(e ast.Expr) verdict {
	terms := conjuncts(e, nil)
	result := always
	if len(terms) > 1 {
		for _, term := range terms {
			v := r.of(term)
			if v == never {
				return never
			}
			result = min(result, v) // unknown stays
		}
	} else if v := literalComparison(e.AsCall()); v != unknown {
		return v
	} else {
		result = unknown
	}
	if r.contradiction(terms) {
		return never
	}
	return result
}

func conjuncts(e ast.Expr, terms []ast.Expr) []ast.Expr {
	if isCall(e, operators.LogicalAnd) {
		return conjuncts(e.AsCall().Args()[1], conjuncts(e.AsCall().Args()[0], terms))
	}
	return append(terms, e)
}

// contradiction reports whether no value of some operand satisfies all terms about it.
func (r *reachability) contradiction(terms []ast.Expr) bool {
	var order []string
	operands := map[string]*operand{}
	for _, term := range terms {
		a, ok := atomOf(term, false)
		if !ok || !r.isPlain(a.operand) {
			continue
		}
		key := r.text(a.operand)
		o := operands[key]
		if o == nil {
			d, said := r.domain(a.operand)
			o = &operand{text: Unparse(r.tree, a.operand), domain: d, said: said}
			operands[key], order = o, append(order, key)
		}
		a.narrow(&o.domain)
		a.narrow(&o.asked)
		o.terms = append(o.terms, term)
	}
	for _, key := range order {
		if o := operands[key]; o.domain.empty() {
			r.causes = append(r.causes, cause{o.terms[0], r.because(o)})
			return true
		}
	}
	return false
}

// isPlain reports whether the operand is an int, string or bool. Doubles are excluded because there are
// values between any two, and values without a type because they may be anything.
func (r *reachability) isPlain(e ast.Expr) bool {
	kind := r.tree.GetType(e.ID()).Kind()
	return kind != types.DoubleKind && kind != types.DynKind
}

// operand is the common operand of several terms, with the values that they allow.
type operand struct {
	text   string
	domain domain
	// asked is the set of values that satisfy all terms.
	asked domain
	// said describes the operand's values before the terms are applied. It may be empty.
	said  string
	terms []ast.Expr
}

func (r *reachability) because(o *operand) string {
	texts := make([]string, len(o.terms))
	for i, term := range o.terms {
		texts[i] = Unparse(r.tree, term)
	}
	cause := brief(strings.Join(texts, " && ")) + " is never true"
	if !o.asked.empty() {
		cause += fmt.Sprintf(": %s is %s", brief(o.text), o.said)
	}
	return cause
}

// atom is a constraint on one operand.
type atom struct {
	operand ast.Expr
	narrow  func(*domain)
}

// atomOf converts a term or its negation to an atom. It treats an unknown term of type bool as an operand
// that is true or false.
func atomOf(e ast.Expr, negated bool) (atom, bool) {
	if e.Kind() != ast.CallKind {
		return boolAtom(e, negated)
	}
	args := e.AsCall().Args()
	switch name := e.AsCall().FunctionName(); name {
	case operators.LogicalNot:
		return atomOf(args[0], !negated)
	case operators.LogicalAnd, operators.LogicalOr, operators.Conditional:
		return atom{}, false
	case operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		return comparisonAtom(name, args[0], args[1], negated)
	case operators.In:
		return membershipAtom(args[0], args[1], negated)
	case cel.BetweenFunction:
		return betweenAtom(e.AsCall(), negated)
	default:
		return boolAtom(e, negated)
	}
}

func boolAtom(e ast.Expr, negated bool) (atom, bool) {
	if e.Kind() == ast.LiteralKind {
		return atom{}, false
	}
	return atom{e, func(d *domain) { d.only(!negated) }}, true
}

// mirrored maps an operator to the operator for exchanged sides; opposite maps it to its negation.
var (
	mirrored = map[string]string{
		operators.Equals: operators.Equals, operators.NotEquals: operators.NotEquals,
		operators.Less: operators.Greater, operators.Greater: operators.Less,
		operators.LessEquals: operators.GreaterEquals, operators.GreaterEquals: operators.LessEquals,
	}
	opposite = map[string]string{
		operators.Equals: operators.NotEquals, operators.NotEquals: operators.Equals,
		operators.Less: operators.GreaterEquals, operators.GreaterEquals: operators.Less,
		operators.LessEquals: operators.Greater, operators.Greater: operators.LessEquals,
	}
)

func comparisonAtom(operator string, left, right ast.Expr, negated bool) (atom, bool) {
	if _, ok := plain(left); ok {
		left, right, operator = right, left, mirrored[operator]
	}
	value, ok := plain(right)
	if _, both := plain(left); !ok || both {
		return atom{}, false
	}
	if negated {
		operator = opposite[operator]
	}
	switch number, isNumber := value.(int64); {
	case operator == operators.Equals:
		return atom{left, func(d *domain) { d.only(value) }}, true
	case operator == operators.NotEquals:
		return atom{left, func(d *domain) { d.never(value) }}, true
	case !isNumber:
		return atom{}, false
	default:
		return atom{left, func(d *domain) { d.compare(operator, number) }}, true
	}
}

func membershipAtom(element, list ast.Expr, negated bool) (atom, bool) {
	if list.Kind() != ast.ListKind || element.Kind() == ast.LiteralKind {
		return atom{}, false
	}
	values := make([]any, len(list.AsList().Elements()))
	for i, e := range list.AsList().Elements() {
		value, ok := plain(e)
		if !ok {
			return atom{}, false
		}
		values[i] = value
	}
	if negated {
		return atom{element, func(d *domain) { d.never(values...) }}, true
	}
	return atom{element, func(d *domain) { d.only(values...) }}, true
}

func betweenAtom(call ast.CallExpr, negated bool) (atom, bool) {
	if negated || !call.IsMemberFunction() {
		return atom{}, false
	}
	low, okLow := plain(call.Args()[0])
	high, okHigh := plain(call.Args()[1])
	from, isFrom := low.(int64)
	to, isTo := high.(int64)
	if !okLow || !okHigh || !isFrom || !isTo {
		return atom{}, false
	}
	return atom{call.Target(), func(d *domain) {
		d.compare(operators.GreaterEquals, from)
		d.compare(operators.LessEquals, to)
	}}, true
}

// plain returns the value of a literal int, string or bool, or of a literal duration in nanoseconds.
func plain(e ast.Expr) (any, bool) {
	if isCall(e, overloads.TypeConvertDuration) {
		text, _ := plain(e.AsCall().Args()[0])
		literal, _ := text.(string)
		d, err := time.ParseDuration(literal)
		return int64(d), err == nil
	}
	if e.Kind() != ast.LiteralKind {
		return nil, false
	}
	switch v := e.AsLiteral().(type) {
	case types.Int:
		return int64(v), true
	case types.String:
		return string(v), true
	case types.Bool:
		return bool(v), true
	default:
		return nil, false
	}
}

// literalComparison returns the verdict on a term that consists only of literals.
func literalComparison(call ast.CallExpr) verdict {
	if call.IsMemberFunction() || len(call.Args()) != 2 {
		return unknown
	}
	left, ok := plain(call.Args()[0])
	if !ok {
		return unknown
	}
	operand := ast.NewExprFactory().NewIdent(0, "") // placeholder for the left side
	a, ok := atom{}, false
	if call.FunctionName() == operators.In {
		a, ok = membershipAtom(operand, call.Args()[1], false)
	} else if mirrored[call.FunctionName()] != "" {
		a, ok = comparisonAtom(call.FunctionName(), operand, call.Args()[1], false)
	}
	if !ok {
		return unknown
	}
	d := domain{allowed: map[any]bool{left: true}}
	a.narrow(&d)
	return verdictIf(!d.empty())
}
