package custom

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/cel"
)

// implied reports rules that can never decide because an earlier, wider rule matches everything that they match.
func (c *compilation) implied() {
	for j := range c.rules {
		for i := range j {
			if c.rules[i].Phase != c.rules[j].Phase || c.verdicts[i] != unknown || c.rules[i].When == nil || c.rules[j].When == nil {
				continue
			}
			phase := c.rules[j].Phase
			narrow, wide := c.trees[c.rules[j].When], c.trees[c.rules[i].When]
			p := implication{narrow: c.reachability(narrow, phase), wide: c.reachability(wide, phase), cases: maxCases}
			if !p.holds(nil, p.narrow.tree.Expr(), p.wide.tree.Expr()) {
				continue
			}
			earlier, later := c.spec.Rules[i], c.spec.Rules[j]
			at := rulePlace(j, later.Name, "when", later.When)
			c.report(at.warning(compiler.CheckUnreachable, at.start(),
				fmt.Sprintf("the rule never decides: rule %q (spec.rules[%d]) before it matches whatever this one would", earlier.Name, i),
				"put the narrower rule first, or remove it"))
			break
		}
	}
}

// implication proves that a wide expression is true whenever a narrow one is. The proof is incomplete: it recognizes equal texts, &&,
// ||, comparisons of one operand with literals, and exists and all over one list.
type implication struct {
	narrow, wide *reachability
	// cases is the remaining number of alternatives to examine.
	cases int
}

// maxCases bounds the time of a proof: each || in the narrow expression doubles the work.
const maxCases = 64

// holds reports whether the goal, a part of the wide expression, is true whenever the given parts of the narrow expression are true.
func (p *implication) holds(facts []ast.Expr, fact, goal ast.Expr) bool {
	facts = conjuncts(fact, slices.Clone(facts))
	for i, fact := range facts {
		if isCall(fact, operators.LogicalOr) && p.cases > 0 {
			p.cases--
			others := slices.Delete(slices.Clone(facts), i, i+1)
			return p.holds(others, fact.AsCall().Args()[0], goal) && p.holds(others, fact.AsCall().Args()[1], goal)
		}
	}
	return p.follows(facts, goal)
}

// follows reports whether the goal is true whenever all facts are.
func (p *implication) follows(facts []ast.Expr, goal ast.Expr) bool {
	switch {
	case isCall(goal, operators.LogicalAnd):
		return p.follows(facts, goal.AsCall().Args()[0]) && p.follows(facts, goal.AsCall().Args()[1])
	case slices.ContainsFunc(facts, func(fact ast.Expr) bool { return p.same(fact, goal) }):
		return true
	case isCall(goal, operators.LogicalOr):
		return p.follows(facts, goal.AsCall().Args()[0]) || p.follows(facts, goal.AsCall().Args()[1])
	case goal.Kind() == ast.ComprehensionKind:
		return slices.ContainsFunc(facts, func(fact ast.Expr) bool { return p.quantified(fact, goal) })
	}
	return p.bounded(facts, goal)
}

// same reports whether a part of the narrow expression and a part of the wide expression have the same text.
func (p *implication) same(narrow, wide ast.Expr) bool {
	return p.narrow.text(narrow) == p.wide.text(wide)
}

// bounded reports whether the goal is true for all values of its operand that satisfy the facts.
func (p *implication) bounded(facts []ast.Expr, goal ast.Expr) bool {
	if isCall(goal, cel.BetweenFunction) {
		ends, ok := endsOf(goal)
		return ok && p.excludes(facts, ends[0]) && p.excludes(facts, ends[1])
	}
	opposite, ok := atomOf(goal, true)
	return ok && p.excludes(facts, opposite)
}

// endsOf returns the two atoms that together negate a between test.
func endsOf(between ast.Expr) (ends [2]atom, ok bool) {
	inside, ok := betweenAtom(between.AsCall(), false)
	if !ok {
		return ends, false
	}
	var d domain
	inside.narrow(&d)
	ends[0] = atom{inside.operand, func(outside *domain) { outside.compare(operators.Less, d.low) }}
	ends[1] = atom{inside.operand, func(outside *domain) { outside.compare(operators.Greater, d.high) }}
	return ends, true
}

// excludes reports whether the facts exclude all values of an operand that satisfy a term of the wide expression.
func (p *implication) excludes(facts []ast.Expr, term atom) bool {
	if !p.wide.isPlain(term.operand) {
		return false
	}
	left, _ := p.wide.domain(term.operand)
	about := false
	for _, fact := range facts {
		if a, ok := atomOf(fact, false); ok && p.same(a.operand, term.operand) {
			a.narrow(&left)
			about = true // therefore the operand has a value
		}
	}
	term.narrow(&left)
	return about && left.empty()
}

// quantified reports whether the goal, exists or all over a list, follows from a fact with the same quantifier over the same list and
// a narrower predicate.
func (p *implication) quantified(fact, goal ast.Expr) bool {
	if fact.Kind() != ast.ComprehensionKind {
		return false
	}
	narrow, wide := fact.AsComprehension(), goal.AsComprehension()
	step, wanted := narrow.LoopStep(), wide.LoopStep()
	quantifier := isCall(wanted, operators.LogicalOr) && isCall(step, operators.LogicalOr) ||
		isCall(wanted, operators.LogicalAnd) && isCall(step, operators.LogicalAnd)
	if !quantifier || narrow.IterVar() != wide.IterVar() || narrow.IterVar2() != wide.IterVar2() || !p.same(narrow.IterRange(), wide.IterRange()) {
		return false
	}
	defer p.wide.enter(wide)()
	return p.holds(nil, step.AsCall().Args()[1], wanted.AsCall().Args()[1])
}
