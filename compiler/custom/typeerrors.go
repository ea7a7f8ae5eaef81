package custom

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/decls"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/compiler"
	rulecel "github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/internal/didyoumean"
)

// Parser errors for which there is a better message.
var (
	unexpected = lazily(`^Syntax error: (?:mismatched input|extraneous input|no viable alternative at input|token recognition error at:) '(.*?)'(?:,? expecting .*)?$`)
	expecting  = lazily(`,? expecting .*$`)
	bareTime   = lazily(`\b[0-9]+(h|m|s|ms)\b`)
)

// lazily compiles a pattern on first use: most programs encounter no error.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// mistaken maps operators of other languages to CEL's.
var mistaken = map[string]string{"=": "==", "and": "&&", "or": "||", "not": "!", "&": "&&", "|": "||", "===": "==", "<>": "!="}

// syntax returns a finding for the parser's first error. Later errors are consequences of it.
func (p place) syntax(errs []*cel.Error) compiler.Finding {
	e := errs[0]
	match := unexpected().FindStringSubmatch(e.Message)
	if match == nil {
		return p.err(CheckSyntax, e.Location, strings.TrimPrefix(expecting().ReplaceAllString(e.Message, ""), "Syntax error: "), "")
	}
	token := strings.TrimSpace(match[1])
	switch operator, ok := mistaken[token]; {
	case ok:
		return p.err(CheckSyntax, e.Location, fmt.Sprintf("%q is not expected here", token), didyoumean.DidYouMean(operator))
	case token == "<EOF>":
		return p.err(CheckSyntax, e.Location, "the expression ends too early", "")
	default:
		return p.err(CheckSyntax, e.Location, fmt.Sprintf("%q is not expected here", token), p.duration(e.Location))
	}
}

// duration suggests a duration literal if there is a bare duration such as 5m at a location.
func (p place) duration(at common.Location) string {
	lines := strings.Split(p.text, "\n")
	if at.Line() < 1 || at.Line() > len(lines) {
		return ""
	}
	line := lines[at.Line()-1]
	for _, span := range bareTime().FindAllStringIndex(line, -1) {
		if span[0] <= at.Column() && at.Column() < span[1] {
			return didyoumean.DidYouMean("duration('" + line[span[0]:span[1]] + "')")
		}
	}
	return ""
}

// constructions returns a finding for each expression that constructs an object of podverdict's types.
func (p place) constructions(tree *ast.AST, known func(string) bool) []compiler.Finding {
	var findings []compiler.Finding
	Visit(tree.Expr(), nil, func(e ast.Expr, _ []string) {
		if e.Kind() == ast.StructKind && known(e.AsStruct().TypeName()) {
			message := fmt.Sprintf("an expression cannot make a %s: it asks about those that there are", e.AsStruct().TypeName())
			findings = append(findings, p.err(CheckConstruct, p.locate(tree, e), message, ""))
		}
	})
	return findings
}

// Checker errors for which there is a better message.
var (
	undefinedField      = lazily(`^undefined field '(.*)'$`)
	undeclaredReference = lazily(`^undeclared reference to '([^']*)'`)
	noFields            = lazily(`^type '(.*)' does not support field selection$`)
	noElements          = lazily(`^expression of type '(.*)' cannot be range of a comprehension`)
	noOverload          = lazily(`^found no matching overload for '([^']*)' applied to '(.*)'$`)
)

// explainer explains the checker's errors by means of the types that it found.
type explainer struct {
	c    *compilation
	p    place
	env  *cel.Env
	tree *ast.AST // partly checked tree, or nil
}

// typeErrors returns findings for the checker's errors. It checks the expression once more in a way that exposes the types.
func (c *compilation) typeErrors(p place, env *cel.Env, errs []*cel.Error) []compiler.Finding {
	x := explainer{c: c, p: p, env: env, tree: compiler.PartlyChecked(env, p.text)}
	follows := x.insideUnknownCalls(errs)
	var findings []compiler.Finding
	for _, e := range errs {
		if follows[e.ExprID] {
			continue
		}
		if message, advice, ok := x.explain(e); ok {
			f := p.err(CheckType, x.locate(e), message, advice)
			f.Instead = x.instead(e.ExprID, advice)
			findings = append(findings, f)
		}
	}
	return findings
}

// instead returns the expression with the field or variable that an advice suggests, or "". It ignores calls of unknown functions,
// because they may hide other errors.
func (x explainer) instead(id int64, advice string) string {
	name, node := didyoumean.Meant(advice), x.node(id)
	switch {
	case name == "" || node == nil:
		return ""
	case node.Kind() == ast.IdentKind:
		return instead(x.tree, node, name)
	case node.Kind() == ast.SelectKind && node.AsSelect().IsTestOnly():
		return instead(x.tree, node, "has("+Unparse(x.tree, node.AsSelect().Operand())+"."+name+")")
	case node.Kind() == ast.SelectKind:
		return instead(x.tree, node, Unparse(x.tree, node.AsSelect().Operand())+"."+name)
	}
	return ""
}

// insideUnknownCalls returns the nodes in calls of undefined functions. Such a call may be a misspelt macro. The undeclared names
// in it are then the macro's variables and not mistakes.
func (x explainer) insideUnknownCalls(errs []*cel.Error) map[int64]bool {
	inside := map[int64]bool{}
	for _, e := range errs {
		node := x.node(e.ExprID)
		if node == nil || node.Kind() != ast.CallKind || !undeclaredReference().MatchString(e.Message) {
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

// node returns the node with an id, or nil.
func (x explainer) node(id int64) ast.Expr {
	if x.tree == nil {
		return nil
	}
	return find(x.tree.Expr(), id)
}

// explain returns the message and advice for an error. It returns false for an error that is already reported.
func (x explainer) explain(e *cel.Error) (message, advice string, ok bool) {
	if match := undefinedField().FindStringSubmatch(e.Message); match != nil {
		message, advice = x.undefinedField(match[1], e.ExprID)
		return message, advice, true
	}
	if match := undeclaredReference().FindStringSubmatch(e.Message); match != nil {
		return x.undeclared(match[1], e.ExprID)
	}
	if match := noOverload().FindStringSubmatch(e.Message); match != nil {
		message, advice = x.noOverload(match[1], match[2])
		return message, advice, true
	}
	if match := noFields().FindStringSubmatch(e.Message); match != nil {
		return "a value of type " + match[1] + " has no fields", x.hintNoFields(e.ExprID), true
	}
	if match := noElements().FindStringSubmatch(e.Message); match != nil {
		return "a value of type " + match[1] + " has no elements: a list or a map is needed here", "", true
	}
	return e.Message, "", true
}

func (x explainer) undefinedField(name string, id int64) (message, advice string) {
	typ := didyoumean.OperandType(x.tree, id)
	if typ == "" {
		return "undefined field '" + name + "'", ""
	}
	message = fmt.Sprintf("%s has no field %q", typ, name)
	if slices.ContainsFunc(rulecel.Functions, func(f rulecel.Function) bool { return f.Name == name && f.Receiver == typ }) {
		return message, fmt.Sprintf("%s is a function: write %[1]s(...)", name)
	}
	names, _ := x.env.CELTypeProvider().FindStructFieldNames(typ)
	return message, didyoumean.Names(name, names, "")
}

func isVariableOf(env *cel.Env, name string) bool {
	return slices.ContainsFunc(env.Variables(), func(v *decls.VariableDecl) bool { return v.Name() == name })
}

// hintNoFields returns a hint for authors who expect a container's fields where the Kubernetes API has them.
func (x explainer) hintNoFields(id int64) string {
	e := x.node(id)
	if e == nil || e.Kind() != ast.SelectKind || e.AsSelect().Operand().Kind() != ast.SelectKind {
		return ""
	}
	state := e.AsSelect().Operand()
	if didyoumean.OperandType(x.tree, state.ID()) != rulecel.ContainerName {
		return ""
	}
	return fmt.Sprintf("a podverdict.Container has it all itself: %s.state, %[1]s.exitCode, %[1]s.reason, %[1]s.message",
		Unparse(x.tree, state.AsSelect().Operand()))
}

func (x explainer) undeclared(name string, id int64) (message, advice string, ok bool) {
	message = fmt.Sprintf("%q is not defined", name)
	e := x.node(id)
	isCall := e != nil && e.Kind() == ast.CallKind
	_, isVariable := x.c.graph.index[name]
	switch {
	case name == compiler.VariablesVariable && x.hasOfVariable():
		return "", "", false
	case name == compiler.VariablesVariable:
		return message, "variables are used by their names, as in variables.NAME", true
	case name == compiler.NowVariable && !isCall:
		return message, "only rules on Pending, Running and Terminating have it", true
	case x.p.isCondition() && !isCall && isVariableOf(x.c.environment.FailedRules, name):
		return message, "a match condition is about the job only", true
	case isVariable && !isCall && !x.p.isCondition():
		return message, didyoumean.DidYouMean(VariableName(name)), true
	}
	known := x.variables
	if isCall {
		message, known = fmt.Sprintf("there is no function %q", name), x.functions
	}
	if since := x.c.environment.FunctionSince(name); since != "" {
		return message, fmt.Sprintf("Kubernetes %s and later have it", since), true
	}
	return message, didyoumean.Names(name, known(), ""), true
}

// hasOfVariable reports whether the expression contains has(variables.x). That is reported separately.
func (x explainer) hasOfVariable() bool {
	return x.tree != nil && slices.ContainsFunc(referencesIn(x.tree.Expr()), func(r reference) bool { return r.expr.AsSelect().IsTestOnly() })
}

var identifier = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

func (x explainer) functions() []string {
	names := []string{"has"}
	for _, m := range x.env.Macros() {
		names = append(names, m.Function())
	}
	return writable(slices.AppendSeq(names, maps.Keys(x.env.Functions())))
}

func (x explainer) variables() []string {
	var names []string
	for _, v := range x.env.Variables() {
		names = append(names, v.Name())
	}
	return writable(names)
}

// writable returns the names that can be written in CEL, sorted and without duplicates. Operators are functions too, and are
// removed.
func writable(names []string) []string {
	names = slices.DeleteFunc(names, func(n string) bool { return !identifier.MatchString(n) })
	slices.Sort(names)
	return slices.Compact(names)
}

func (x explainer) noOverload(function, arguments string) (message, advice string) {
	receiver, args, isMember := strings.Cut(strings.TrimSuffix(arguments, ")"), ".(")
	for _, f := range rulecel.Functions {
		if f.Name == function && (advice == "" || strings.Contains(receiver, f.Receiver)) {
			advice = "it is " + f.Signature
		}
	}
	if isMember {
		if function == "contains" && strings.HasPrefix(receiver, "list(") {
			advice = "ask whether a value is in a list: value in list"
		}
		return fmt.Sprintf("there is no %s.%s(%s)", receiver, function, args), advice
	}
	args = strings.TrimPrefix(receiver, "(")
	if operator, ok := operators.FindReverse(function); ok && operator != "" {
		if strings.Contains(args, "list("+rulecel.AttemptName+")") {
			advice = "attempt is the pod's number, attempts.size() is how many attempts before it are known"
		}
		if strings.Contains(args, "optional_type(") {
			advice = "say what it is without a value: .orValue(...)"
		}
		if strings.Contains(args, "duration") && strings.Contains(args, "string") {
			advice = "make it a duration, as in duration('5m')"
		}
		return fmt.Sprintf("operator %s is not for %s", operator, strings.ReplaceAll(args, ", ", " and ")), advice
	}
	return fmt.Sprintf("there is no %s(%s)", function, args), advice
}

// checkResult reports an expression whose value has the wrong type.
func (c *compilation) checkResult(p place, got, want *types.Type) {
	what, advice := "a match condition", ""
	switch {
	case strings.HasSuffix(p.path, ".when"):
		what = "when"
	case strings.HasSuffix(p.path, ".messageExpression"):
		what = "messageExpression"
	}
	switch {
	case isOptional(got):
		advice = "say what it is without a value: .orValue(...)"
	case want.Kind() == types.StringKind && got.Kind() != types.DynKind && got.Kind() != types.StructKind:
		advice = "make it a string: string(...)"
	case want.Kind() == types.BoolKind && got.Kind() == types.ListKind:
		advice = "ask for an element: .exists(c, ...), or .size() > 0"
	}
	message := fmt.Sprintf("%s must be of type %s, and this is of type %s", what, cel.FormatCELType(want), cel.FormatCELType(got))
	c.report(p.err(CheckType, p.start(), message, advice))
}

// isObject returns a function that reports whether a type is one of podverdict's.
func isObject(e *compiler.Environment) func(name string) bool {
	return func(name string) bool {
		_, ok := e.Schema.Type(name)
		return ok || slices.Contains([]string{rulecel.ContainerName, rulecel.ConditionName, rulecel.AttemptName}, name)
	}
}
