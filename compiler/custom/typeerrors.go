package custom

import (
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/library"
)

// The parser's errors that can be said better.
var (
	unexpected = regexp.MustCompile(`^Syntax error: (?:mismatched input|extraneous input|no viable alternative at input|token recognition error at:) '(.*?)'(?:,? expecting .*)?$`)
	expecting  = regexp.MustCompile(`,? expecting .*$`)
)

// mistaken are operators of other languages.
var mistaken = map[string]string{"=": "==", "and": "&&", "or": "||", "not": "!", "&": "&&", "|": "||", "===": "==", "<>": "!="}

// syntax is the parser's first error: what it says after that follows from it.
func (p place) syntax(errs []*cel.Error) Finding {
	e := errs[0]
	message, hint := strings.TrimPrefix(expecting.ReplaceAllString(e.Message, ""), "Syntax error: "), ""
	if match := unexpected.FindStringSubmatch(e.Message); match != nil {
		token := strings.TrimSpace(match[1])
		message = sayUnexpected(token)
		if operator, ok := mistaken[token]; ok {
			hint = didYouMean(operator)
		}
	}
	return p.err(CheckSyntax, e.Location, message, hint)
}

// constructions are objects of podverdict's types that an expression would make.
func (p place) constructions(tree *ast.AST, known func(string) bool) []Finding {
	var findings []Finding
	Visit(tree.Expr(), nil, func(e ast.Expr, _ []string) {
		if e.Kind() == ast.StructKind && known(e.AsStruct().TypeName()) {
			findings = append(findings, p.err(CheckConstruct, p.locate(tree, e), sayConstruction(e.AsStruct().TypeName()), ""))
		}
	})
	return findings
}

// The checker's errors that can be said better.
var (
	undefinedField      = regexp.MustCompile(`^undefined field '(.*)'$`)
	undeclaredReference = regexp.MustCompile(`^undeclared reference to '([^']*)'`)
	noFields            = regexp.MustCompile(`^type '(.*)' does not support field selection$`)
	noElements          = regexp.MustCompile(`^expression of type '(.*)' cannot be range of a comprehension`)
	noOverload          = regexp.MustCompile(`^found no matching overload for '([^']*)' applied to '(.*)'$`)
)

// explainer says what the checker's errors mean, by the types that it found.
type explainer struct {
	c    *compilation
	p    place
	env  *cel.Env
	tree *ast.AST // checked as far as it goes, or nil
}

// typeErrors are the checker's errors. It checks once more, in a way that hands the
// types out.
func (c *compilation) typeErrors(p place, env *cel.Env, errs []*cel.Error) []Finding {
	x := explainer{c: c, p: p, env: env}
	if check, err := compiler.NewChecker(env); err == nil {
		if parsed, issues := env.Parse(p.text); issues.Err() == nil {
			x.tree, _ = checker.Check(parsed.NativeRep(), parsed.Source(), check)
		}
	}
	follows := x.insideUnknownCalls(errs)
	var findings []Finding
	for _, e := range errs {
		if follows[e.ExprID] {
			continue
		}
		if message, hint, ok := x.explain(e); ok {
			findings = append(findings, p.err(CheckType, x.locate(e), message, hint))
		}
	}
	return findings
}

// insideUnknownCalls are the nodes in calls of functions that do not exist: their names
// would be those of a macro's variables, if it were one.
func (x explainer) insideUnknownCalls(errs []*cel.Error) map[int64]bool {
	inside := map[int64]bool{}
	for _, e := range errs {
		node := x.node(e.ExprID)
		if node == nil || node.Kind() != ast.CallKind || !undeclaredReference.MatchString(e.Message) {
			continue
		}
		for _, arg := range node.AsCall().Args() {
			Visit(arg, nil, func(e ast.Expr, _ []string) { inside[e.ID()] = true })
		}
	}
	return inside
}

func (x explainer) locate(e *cel.Error) common.Location {
	node := x.node(e.ExprID)
	switch {
	case node == nil:
		return e.Location
	case node.Kind() == ast.SelectKind && node.AsSelect().IsTestOnly():
		return x.p.fieldAt(x.tree, node)
	default:
		return x.p.nameAt(x.tree, node, e.Location)
	}
}

// node is the one with a number, or nil.
func (x explainer) node(id int64) ast.Expr {
	if x.tree == nil {
		return nil
	}
	return find(x.tree.Expr(), id)
}

// explain is not ok for what is reported already.
func (x explainer) explain(e *cel.Error) (message, hint string, ok bool) {
	if match := undefinedField.FindStringSubmatch(e.Message); match != nil {
		message, hint = x.undefinedField(match[1], e.ExprID)
		return message, hint, true
	}
	if match := undeclaredReference.FindStringSubmatch(e.Message); match != nil {
		return x.undeclared(match[1], e.ExprID)
	}
	if match := noOverload.FindStringSubmatch(e.Message); match != nil {
		message, hint = x.noOverload(match[1], match[2])
		return message, hint, true
	}
	if match := noFields.FindStringSubmatch(e.Message); match != nil {
		return sayNoFields(match[1]), x.hintNoFields(e.ExprID), true
	}
	if match := noElements.FindStringSubmatch(e.Message); match != nil {
		return sayNoElements(match[1]), "", true
	}
	return e.Message, "", true
}

func (x explainer) undefinedField(name string, id int64) (message, hint string) {
	typ := x.operandType(id)
	if typ == "" {
		return "undefined field '" + name + "'", ""
	}
	names, _ := x.env.CELTypeProvider().FindStructFieldNames(typ)
	if slices.ContainsFunc(library.Functions, func(f library.Function) bool { return f.Name == name && f.Receiver == typ }) {
		return sayNoField(typ, name), hintCall(name)
	}
	return sayNoField(typ, name), hintName(name, names, asIs)
}

// hintNoFields is for those who look for a container's fields where the API has them.
func (x explainer) hintNoFields(id int64) string {
	e := x.node(id)
	if e == nil || e.Kind() != ast.SelectKind || e.AsSelect().Operand().Kind() != ast.SelectKind {
		return ""
	}
	state := e.AsSelect().Operand()
	if x.operandType(state.ID()) != library.ContainerName {
		return ""
	}
	return hintContainer(Unparse(x.tree, state.AsSelect().Operand()))
}

// operandType is the name of the type that the node of this number selects from.
func (x explainer) operandType(id int64) string {
	e := x.node(id)
	if e == nil {
		return ""
	}
	var operand ast.Expr
	switch {
	case e.Kind() == ast.SelectKind:
		operand = e.AsSelect().Operand()
	case e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.OptSelect:
		operand = e.AsCall().Args()[0]
	default:
		return ""
	}
	t := x.tree.GetType(operand.ID())
	if isOptional(t) {
		t = t.Parameters()[0]
	}
	if t.Kind() != types.StructKind {
		return ""
	}
	return t.TypeName()
}

func (x explainer) undeclared(name string, id int64) (message, hint string, ok bool) {
	e := x.node(id)
	isCall := e != nil && e.Kind() == ast.CallKind
	_, isVariable := x.c.graph.index[name]
	switch {
	case name == compiler.VariablesVariable && x.hasOfVariable():
		return "", "", false
	case name == compiler.VariablesVariable:
		return sayUndeclared(name), hintVariables, true
	case name == compiler.NowVariable && !isCall:
		return sayUndeclared(name), hintNow, true
	case x.p.isCondition() && (name == compiler.PodVariable || name == compiler.AttemptVariable) && !isCall:
		return sayUndeclared(name), hintCondition, true
	case isCall:
		return sayNoFunction(name), hintName(name, x.functions(), asIs), true
	case isVariable && !x.p.isCondition():
		return sayUndeclared(name), didYouMean(VariableName(name)), true
	default:
		return sayUndeclared(name), hintName(name, x.variables(), asIs), true
	}
}

// hasOfVariable is whether the expression has has(variables.x), which is reported.
func (x explainer) hasOfVariable() bool {
	return x.tree != nil && slices.ContainsFunc(referencesIn(x.tree.Expr()), func(r reference) bool { return r.expr.AsSelect().IsTestOnly() })
}

// identifier is what one can write: operators are functions too.
var identifier = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

func (x explainer) functions() []string {
	names := []string{"has"}
	for _, m := range x.env.Macros() {
		names = append(names, m.Function())
	}
	for name := range x.env.Functions() {
		names = append(names, name)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !identifier.MatchString(n) })
	slices.Sort(names)
	return slices.Compact(names)
}

func (x explainer) variables() []string {
	names := make([]string, 0, len(x.c.graph.names))
	for _, v := range x.env.Variables() {
		names = append(names, v.Name())
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !identifier.MatchString(n) })
	slices.Sort(names)
	return names
}

func (x explainer) noOverload(function, arguments string) (message, hint string) {
	receiver, args, isMember := strings.Cut(arguments, ".(")
	if !isMember {
		receiver, args = "", strings.TrimPrefix(arguments, "(")
	}
	args = strings.TrimSuffix(args, ")")
	if operator, ok := operators.FindReverse(function); ok && operator != "" {
		return sayOperator(operator, args), ""
	}
	for _, f := range library.Functions {
		if f.Name == function {
			hint = hintSignature(f.Signature)
		}
	}
	return sayNoOverload(receiver, function, args), hint
}

// isObject is whether a type is one of podverdict's.
func isObject(e *compiler.Environment) func(name string) bool {
	return func(name string) bool {
		_, ok := e.Schema.Type(name)
		return ok || name == library.ContainerName || name == library.ConditionName
	}
}
