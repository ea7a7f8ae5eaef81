package custom

import (
	"fmt"
	"maps"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/cel"
)

// verdict is the known value of a bool expression for all pods.
type verdict uint8

const (
	unknown verdict = iota
	never
	always
)

func (v verdict) negated() verdict {
	switch v {
	case never:
		return always
	case always:
		return never
	default:
		return unknown
	}
}

// reach reports a rule that can never match, or the parts of it that are never true.
func (c *compilation) reach(p place, tree *ast.AST, phase corev1.PodPhase) verdict {
	r := c.reachability(tree, phase)
	v := r.of(tree.Expr())
	switch {
	case v == always && v1alpha1.Lives(phase):
		c.report(p.warning(CheckAlways, p.start(), fmt.Sprintf("rule %q matches each pod that is %s as soon as it is seen", p.ruleName, phase),
			"ask for the cause, and how long it has lasted by now"))
	case v == never && len(r.causes) == 0:
		c.report(p.warning(CheckNever, p.start(), "the rule can never match: it is always false", ""))
	case v == never:
		for _, cause := range r.causes {
			c.report(p.warning(CheckNever, p.begin(tree, cause.expr), "the rule can never match: "+cause.text, ""))
		}
	default:
		r.report(p)
	}
	return v
}

// verdictOf returns the verdict on a variable. Expressions may use the variable or its negation.
func (c *compilation) verdictOf(p place, tree *ast.AST, phase corev1.PodPhase) verdict {
	r := c.reachability(tree, phase)
	v := r.of(tree.Expr())
	r.report(p)
	return v
}

func (r *reachability) report(p place) {
	for _, cause := range r.causes {
		r.c.report(p.warning(CheckDeadPart, p.begin(r.tree, cause.expr), "this part decides nothing: "+cause.text, ""))
	}
}

// shadowed reports rules that come after a rule that always matches. It considers the first such rule of each phase,
// because the rules after it are already reported.
func (c *compilation) shadowed() {
	seen := map[corev1.PodPhase]bool{}
	for i, v := range c.verdicts {
		if phase := c.rules[i].Phase; v == always && !seen[phase] {
			seen[phase] = true
			c.shadowedBy(i)
		}
	}
}

func (c *compilation) shadowedBy(i int) {
	r := c.spec.Rules[i]
	after := false
	for j := i + 1; j < len(c.rules); j++ {
		if c.rules[j].Phase != c.rules[i].Phase {
			continue
		}
		p := rulePlace(j, c.spec.Rules[j].Name, "when", c.spec.Rules[j].When)
		c.report(p.warning(compiler.CheckUnreachable, p.start(),
			fmt.Sprintf("the rule never decides: rule %q (spec.rules[%d]) before it matches every pod", r.Name, i),
			"move it before that rule, or remove it"))
		after = true
	}
	if after && c.rules[i].Phase == corev1.PodFailed { // other phases are reported in reach
		p := rulePlace(i, r.Name, "when", r.When)
		c.report(p.warning(CheckAlways, p.start(),
			fmt.Sprintf("rule %q matches every pod, so that no rule after it decides", r.Name), "put it last"))
	}
}

// reachability analyzes one expression.
type reachability struct {
	c     *compilation
	tree  *ast.AST
	phase corev1.PodPhase
	// info is the tree's source info, with pod.node() replaced by node.
	info *ast.SourceInfo
	// locals maps comprehension variables to whether they are failed containers.
	locals map[string]bool
	causes []cause
	// steady reports whether to assume that no container has restarted.
	steady bool
}

// cause is a part that is never true, and the reason.
type cause struct {
	expr ast.Expr
	text string
}

func (c *compilation) reachability(tree *ast.AST, phase corev1.PodPhase) *reachability {
	info := ast.CopySourceInfo(tree.SourceInfo())
	for id, call := range info.MacroCalls() {
		if isCall(call, cel.NodeFunction) {
			info.SetMacroCall(id, ast.NewExprFactory().NewIdent(0, compiler.NodeVariable))
		}
	}
	return &reachability{c: c, tree: tree, phase: phase, info: info, locals: map[string]bool{}}
}

// text returns the source text of an expression. Equal expressions have equal texts.
func (r *reachability) text(e ast.Expr) string {
	text, err := parser.Unparse(e, r.info, parser.WrapOnColumn(compiler.OneLine))
	if err != nil {
		return fmt.Sprint("node ", e.ID()) // unique
	}
	return text
}

// NeedsRestarts reports whether a rule on Running can match only pods whose containers have restarted.
func (x *Expression) NeedsRestarts() bool {
	_, tree, err := x.Check()
	if err != nil {
		return false
	}
	r := (&compilation{}).reachability(tree, corev1.PodRunning)
	matches := r.of(tree.Expr()) != never
	r.steady = true
	return matches && r.of(tree.Expr()) == never
}

func (r *reachability) of(e ast.Expr) verdict {
	if r.tree.GetType(e.ID()).Kind() != types.BoolKind {
		return unknown
	}
	switch e.Kind() {
	case ast.LiteralKind:
		return verdictIf(e.AsLiteral() == types.True)
	case ast.IdentKind:
		for _, v := range r.c.variables {
			if VariableName(v.name) == e.AsIdent() {
				return v.verdict
			}
		}
		return unknown
	case ast.CallKind:
		return r.ofCall(e)
	case ast.ComprehensionKind:
		return r.ofLoop(e.AsComprehension())
	default:
		return unknown
	}
}

func verdictIf(b bool) verdict {
	if b {
		return always
	}
	return never
}

func (r *reachability) ofCall(e ast.Expr) verdict {
	args := e.AsCall().Args()
	switch e.AsCall().FunctionName() {
	case operators.LogicalNot:
		return r.negation(args[0])
	case operators.LogicalAnd:
		return r.conjunction(e)
	case operators.LogicalOr:
		left, right := r.of(args[0]), r.of(args[1])
		switch {
		case left == always || right == always:
			return always
		case left == never && right == never:
			return never
		}
	case operators.Conditional:
		switch r.of(args[0]) {
		case always:
			return r.of(args[1])
		case never:
			return r.of(args[2])
		case unknown:
		}
		if yes, no := r.of(args[1]), r.of(args[2]); yes == no {
			return yes
		}
	default:
		return r.conjunction(e)
	}
	return unknown
}

// negation returns the verdict on !e. It discards the causes for which e is never true.
func (r *reachability) negation(e ast.Expr) verdict {
	causes := len(r.causes)
	v := r.of(e).negated()
	r.causes = r.causes[:causes]
	return v
}

// ofLoop returns the verdict on a quantifier. exists is never true if its predicate is never true, and all is always true
// if its predicate is. A list may always be empty.
func (r *reachability) ofLoop(loop ast.ComprehensionExpr) verdict {
	step := loop.LoopStep()
	if step.Kind() != ast.CallKind {
		return unknown
	}
	defer r.enter(loop)()
	args := step.AsCall().Args()
	switch step.AsCall().FunctionName() {
	case operators.LogicalOr: // exists
		if r.of(args[1]) == never {
			return never
		}
	case operators.LogicalAnd: // all
		if r.of(args[1]) == always {
			return always
		}
	case operators.Conditional: // exists_one
		if loop.AccuInit().Kind() == ast.LiteralKind && r.of(args[0]) == never {
			return never
		}
	}
	return unknown
}

// enter declares the variables of a loop, and returns a function that removes them.
func (r *reachability) enter(loop ast.ComprehensionExpr) (leave func()) {
	outer := r.locals
	r.locals = maps.Clone(outer)
	element := loop.IterVar()
	if loop.HasIterVar2() {
		r.locals[element] = false
		element = loop.IterVar2()
	}
	r.locals[element] = isFailedContainers(loop.IterRange())
	return func() { r.locals = outer }
}

// isFailedContainers reports whether a list is pod.failedContainers(), possibly filtered.
func isFailedContainers(e ast.Expr) bool {
	switch e.Kind() {
	case ast.ComprehensionKind:
		return isFilter(e.AsComprehension()) && isFailedContainers(e.AsComprehension().IterRange())
	case ast.CallKind:
		return e.AsCall().FunctionName() == cel.FailedContainersFunction
	default:
		return false
	}
}
