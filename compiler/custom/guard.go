package custom

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/cel"
)

// guards returns a finding for each selection that fails on some pods because a field on the path
// may be absent and its presence was not tested first.
func (c *compilation) guards(p place, tree *ast.AST) []compiler.Finding {
	g := &guard{place: p, tree: tree, schema: c.environment.Schema, variables: map[string]*ast.AST{}, seen: map[string]bool{}}
	for _, v := range c.variables {
		if v.tree != nil {
			g.variables[VariableName(v.name)] = v.tree
		}
	}
	g.expr(tree.Expr(), nil)
	return g.findings
}

// guard walks an expression and tracks which fields are known to be present.
type guard struct {
	place place
	tree  *ast.AST
	// variables are the policy's variables, which may contain the presence tests that an expression
	// uses.
	variables map[string]*ast.AST
	schema    *cel.Schema
	findings  []compiler.Finding
	// around is the innermost call that contains the current node.
	around ast.Expr
	// seen holds the reported fields. Each field is reported once.
	seen map[string]bool
}

// facts is the set of fields that are known to be present.
type facts map[string]bool

func (f facts) with(more []string) facts {
	if len(more) == 0 {
		return f
	}
	all := maps.Clone(f)
	if all == nil {
		all = facts{}
	}
	for _, key := range more {
		all[key] = true
	}
	return all
}

// without returns the facts that do not mention any of the names.
func (f facts) without(names ...string) facts {
	left := facts{}
	for key := range f {
		if !slices.ContainsFunc(names, func(name string) bool { return rootOf(key) == name || strings.Contains(key, "["+name+"]") }) {
			left[key] = true
		}
	}
	return left
}

func (g *guard) expr(e ast.Expr, known facts) {
	switch e.Kind() {
	case ast.SelectKind:
		if e.AsSelect().IsTestOnly() {
			g.presence(e, known)
			return
		}
		g.selection(e, known)
	case ast.CallKind:
		around := g.around
		if !g.isLink(e) {
			g.around = e
		}
		g.call(e, known)
		g.around = around
	case ast.ComprehensionKind:
		g.comprehension(e.AsComprehension(), known)
	default:
		for _, child := range children(e) {
			g.expr(child, known)
		}
	}
}

// call checks a call. The sides of && and || are evaluated in any order, so one side may test the
// presence of fields that the other side needs.
func (g *guard) call(e ast.Expr, known facts) {
	args := e.AsCall().Args()
	switch e.AsCall().FunctionName() {
	case operators.LogicalAnd:
		g.expr(args[0], known.with(g.present(args[1], true)))
		g.expr(args[1], known.with(g.present(args[0], true)))
	case operators.LogicalOr:
		g.expr(args[0], known.with(g.present(args[1], false)))
		g.expr(args[1], known.with(g.present(args[0], false)))
	case operators.Conditional:
		g.expr(args[0], known)
		g.expr(args[1], known.with(g.present(args[0], true)))
		g.expr(args[2], known.with(g.present(args[0], false)))
	case operators.Index:
		g.selection(e, known)
	case "value":
		g.expr(e.AsCall().Target(), known)
		g.value(e.AsCall().Target(), known)
	default:
		for _, child := range children(e) {
			g.expr(child, known)
		}
	}
}

// value checks a call of an optional's method value, which fails for an empty optional.
func (g *guard) value(optional ast.Expr, known facts) {
	key, ok := keyOf(optional)
	named := operandOf(optional) != nil || key == compiler.NodeVariable
	if !ok || known[key] || !named || !isOptional(g.tree.GetType(optional.ID())) {
		return
	}
	text := Unparse(g.tree, optional)
	otherwise := "say what it is without a value: .orValue(...)"
	if key == compiler.NodeVariable { // an expression cannot construct a node
		otherwise = "select its fields without value(), as in " + text + ".metadata"
	}
	g.report(CheckAbsent, optional, brief(text)+" may be absent, which is an error here",
		compiler.Finding{Hint: "ask " + text + ".hasValue() first, or " + otherwise})
}

func (g *guard) comprehension(loop ast.ComprehensionExpr, known facts) {
	g.expr(loop.IterRange(), known)
	g.expr(loop.AccuInit(), known)
	inside := known.without(loop.IterVar(), loop.IterVar2())
	g.expr(loop.LoopStep(), inside.with(append(iterated(loop), g.filtered(loop)...)))
	g.expr(loop.Result(), known.without(loop.AccuVar())) // checks inside optMap and sortBy
}

// iterated returns the fields that are present while a loop runs: the list itself, and the keys of
// a map.
func iterated(loop ast.ComprehensionExpr) []string {
	keys := prefixes(loop.IterRange())
	if key, ok := keyOf(loop.IterRange()); ok {
		keys = append(keys, key+"["+loop.IterVar()+"]")
	}
	return slices.DeleteFunc(keys, func(key string) bool { return rootOf(key) == loop.IterVar() || rootOf(key) == loop.IterVar2() })
}

// filtered returns the fields that are present in each element that passes a filter.
func (g *guard) filtered(loop ast.ComprehensionExpr) []string {
	list := loop.IterRange()
	if tree := g.variables[list.AsIdent()]; tree != nil {
		list = tree.Expr()
	}
	if list.Kind() != ast.ComprehensionKind || !isFilter(list.AsComprehension()) {
		return nil
	}
	filter := list.AsComprehension()
	var keys []string
	for _, key := range g.present(filter.LoopStep().AsCall().Args()[0], true) {
		if rootOf(key) == filter.IterVar() {
			keys = append(keys, loop.IterVar()+key[len(filter.IterVar()):])
		}
	}
	return keys
}

// selection checks a chain of fields and keys. It reports the first one that may be absent and was
// not tested.
func (g *guard) selection(e ast.Expr, known facts) {
	var missing []ast.Expr
	base := e
	for g.isLink(base) {
		if key, ok := keyOf(base); g.mayBeAbsent(base) && (!ok || !known[key]) {
			missing = append(missing, base)
		}
		if base.Kind() == ast.CallKind {
			g.expr(base.AsCall().Args()[1], known)
		}
		base = operandOf(base)
	}
	if isCall(base, operators.Index) { // list index
		for _, child := range children(base) {
			g.expr(child, known)
		}
	} else {
		g.expr(base, known)
	}
	if len(missing) == 0 {
		return
	}
	slices.Reverse(missing)
	questions := make([]string, len(missing))
	for i, m := range missing {
		questions[i] = g.question(m)
	}
	f := compiler.Finding{Hint: "ask " + strings.Join(questions, " && ") + " first"}
	if rewritten := g.rewriteSelection(e, known); rewritten != "" {
		f.Otherwise, f.Hint, f.Instead = f.Hint, "write "+rewritten+", or "+f.Hint, instead(g.tree, e, rewritten)
	}
	g.report(CheckAbsent, missing[0], brief(Unparse(g.tree, missing[0]))+" may be absent, which is an error here", f)
}

// presence checks a has() macro. All fields before the last must be present.
func (g *guard) presence(e ast.Expr, known facts) {
	var missing ast.Expr
	base := operandOf(e)
	for g.isLink(base) {
		if key, ok := keyOf(base); g.mayBeAbsent(base) && (!ok || !known[key]) {
			missing = base
		}
		base = operandOf(base)
	}
	g.expr(base, known)
	if missing != nil {
		message := fmt.Sprintf("has() looks at its last field only: %s may be absent, which is an error here", brief(Unparse(g.tree, missing)))
		rewritten := g.rewrite(e, known) + ".hasValue()"
		g.report(CheckGuard, missing, message, compiler.Finding{Hint: "write " + rewritten, Instead: instead(g.tree, e, rewritten)})
	}
}

// report adds a finding with the given advice, unless the same finding was reported before.
func (g *guard) report(check string, missing ast.Expr, message string, advice compiler.Finding) {
	key := check + Unparse(g.tree, missing)
	if g.seen[key] {
		return
	}
	g.seen[key] = true
	f := g.place.warning(check, g.place.locate(g.tree, missing), message, advice.Hint)
	f.Instead, f.Otherwise = advice.Instead, advice.Otherwise
	g.findings = append(g.findings, f)
}

// question returns an expression that tests whether the link's target is present.
func (g *guard) question(link ast.Expr) string {
	if link.Kind() == ast.CallKind {
		return Unparse(g.tree, link.AsCall().Args()[1]) + " in " + Unparse(g.tree, operandOf(link))
	}
	return "has(" + Unparse(g.tree, link) + ")"
}

// isLink reports whether a node selects a field or a key without testing its presence.
func (g *guard) isLink(e ast.Expr) bool {
	switch {
	case e.Kind() == ast.SelectKind:
		return !e.AsSelect().IsTestOnly()
	case isCall(e, operators.Index):
		return g.tree.GetType(operandOf(e).ID()).Kind() == types.MapKind
	default:
		return false
	}
}

// mayBeAbsent reports whether the target of a link can be absent and selecting it can fail.
// Selecting a field of an optional cannot fail.
func (g *guard) mayBeAbsent(link ast.Expr) bool {
	t := g.tree.GetType(operandOf(link).ID())
	switch t.Kind() {
	case types.MapKind:
		return true
	case types.StructKind:
		typ, ok := g.schema.Type(t.TypeName())
		if !ok || link.Kind() != ast.SelectKind {
			return false
		}
		field, ok := typ.Field(link.AsSelect().FieldName())
		return ok && field.Optional
	default:
		return false
	}
}

// present returns the fields that are known to be present if an expression has the value when.
func (g *guard) present(e ast.Expr, when bool) []string {
	switch e.Kind() {
	case ast.SelectKind:
		if e.AsSelect().IsTestOnly() && when {
			return prefixes(e)
		}
	case ast.IdentKind:
		if tree := g.variables[e.AsIdent()]; tree != nil {
			return g.present(tree.Expr(), when)
		}
	case ast.CallKind:
		return g.presentInCall(e.AsCall(), when)
	default:
	}
	return nil
}

func (g *guard) presentInCall(call ast.CallExpr, when bool) []string {
	args := call.Args()
	switch name := call.FunctionName(); {
	case name == operators.LogicalNot:
		return g.present(args[0], !when)
	case name == operators.LogicalAnd && when || name == operators.LogicalOr && !when:
		return append(g.present(args[0], when), g.present(args[1], when)...)
	case (name == "hasValue" || g.isOfNode(call)) && call.IsMemberFunction() && when:
		return prefixes(call.Target())
	case name == operators.In && when:
		if key, ok := keyOf(args[1]); ok {
			if entry, ok := entryOf(key, args[0]); ok {
				return append(prefixes(args[1]), entry)
			}
		}
	case name == operators.Equals || name == operators.NotEquals:
		return presentByDefault(args[0], args[1], (name == operators.Equals) == when)
	}
	return nil
}

// isOfNode reports whether a call is a node function, which never returns true for an absent node.
func (g *guard) isOfNode(call ast.CallExpr) bool {
	return call.IsMemberFunction() && objectOf(g.tree.GetType(call.Target().ID())).TypeName() == g.schema.Node.Name
}

// presentByDefault returns the fields that x.orValue(default) == literal proves to be present: the
// value differs from the default only if x is present.
func presentByDefault(left, right ast.Expr, equal bool) []string {
	if left.Kind() == ast.LiteralKind {
		left, right = right, left
	}
	if !isOrValue(left) || right.Kind() != ast.LiteralKind {
		return nil
	}
	otherwise := left.AsCall().Args()[0]
	if otherwise.Kind() != ast.LiteralKind || (otherwise.AsLiteral() == right.AsLiteral()) == equal {
		return nil
	}
	return prefixes(left.AsCall().Target())
}
