package custom

import (
	"cmp"
	"fmt"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/interpreter"
	corev1 "k8s.io/api/core/v1"
	apilibrary "k8s.io/apiserver/pkg/cel/library"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
)

// Limits of a policy. The CustomResourceDefinition has the first three limits too.
const (
	// MaxItems is the maximum number of match conditions, of variables, and of rules.
	MaxItems = 64
	// MaxExpression is the maximum length of an expression in characters.
	MaxExpression = 4096
	// MaxMessage is the maximum length of a message in bytes. Longer messages are not shown.
	MaxMessage = 4096
)

// Compile compiles a policy's expressions. If any finding is an error, it returns an *Error with all findings. The findings of a
// policy that compiles are in its Warnings. Unlike the API server, Compile does not validate the other fields of the spec.
func Compile(e *compiler.Environment, spec *v1alpha1.PodFailurePolicySpec) (*Policy, error) {
	p, _, err := CompileTrees(e, spec)
	return p, err
}

// Trees maps the expressions of a policy to their checked syntax trees, which need many times the memory of the policy.
type Trees map[*Expression]*ast.AST

// CompileTrees is like Compile, and also returns the syntax trees of the policy's expressions.
func CompileTrees(e *compiler.Environment, spec *v1alpha1.PodFailurePolicySpec) (*Policy, Trees, error) {
	findings, limited := limits(spec)
	if !limited {
		return nil, nil, &Error{findings}
	}
	c := newCompilation(e, spec)
	c.report(findings...)
	for i, m := range spec.MatchConditions {
		c.condition(i, m)
	}
	for i, v := range spec.Variables {
		c.variable(i, v)
	}
	for i, r := range spec.Rules {
		c.rule(i, r)
	}
	c.total()
	c.shadowed()
	c.implied()
	if hasErrors(c.findings) {
		return nil, nil, &Error{c.findings}
	}
	return c.policy(), c.trees, nil
}

// compilation is the state of compiling a policy.
type compilation struct {
	environment *compiler.Environment
	spec        *v1alpha1.PodFailurePolicySpec
	findings    []compiler.Finding

	graph     variableGraph
	variables []compiledVariable
	// ofFailed and ofLiving contain the variables that were compiled so far.
	ofFailed, ofLiving vocabulary

	conditions []*Expression
	rules      []Rule
	trees      Trees
	verdicts   []verdict
	cost       uint64
	reads      Reads
	// readsAttempts reports whether an expression so far reads earlier attempts.
	readsAttempts bool
	// sizes holds the size estimates of variables and their contents, keyed by their paths in CEL.
	sizes map[string]checker.SizeEstimate
}

func newCompilation(e *compiler.Environment, spec *v1alpha1.PodFailurePolicySpec) *compilation {
	return &compilation{
		environment: e, spec: spec, trees: Trees{}, graph: newVariableGraph(e.FailedRules, spec.Variables),
		sizes: map[string]checker.SizeEstimate{}, reads: NewReads(),
		ofFailed: vocabulary{base: e.FailedRules, env: e.FailedRules}, ofLiving: vocabulary{base: e.LivingRules, env: e.LivingRules},
	}
}

func (c *compilation) report(f ...compiler.Finding) { c.findings = append(c.findings, f...) }

// limits returns findings for policies that no API server has validated, and reports whether their expressions can be compiled
// nevertheless. They cannot if there are too many of them, or if two variables have the same name.
func limits(spec *v1alpha1.PodFailurePolicySpec) (findings []compiler.Finding, limited bool) {
	limited = true
	list := func(name string, n int, nameOf func(int) string) {
		p := place{rule: compiler.NoRule, path: "spec." + name}
		if n > MaxItems {
			limited = false
			findings = append(findings, p.err(CheckLimit, p.start(), fmt.Sprintf("%d items: at most %d are allowed", n, MaxItems), ""))
			return
		}
		seen := map[string]bool{}
		for i := range n {
			if name := nameOf(i); seen[name] {
				limited = limited && p.path != "spec.variables"
				at := place{rule: compiler.NoRule, path: fmt.Sprintf("%s[%d].name", p.path, i), text: name}
				findings = append(findings, at.err(CheckLimit, at.start(), fmt.Sprintf("%q is defined before", name), ""))
			}
			seen[nameOf(i)] = true
		}
	}
	list("matchConditions", len(spec.MatchConditions), func(i int) string { return spec.MatchConditions[i].Name })
	list("variables", len(spec.Variables), func(i int) string { return spec.Variables[i].Name })
	list("rules", len(spec.Rules), func(i int) string { return spec.Rules[i].Name })
	return findings, limited
}

func (c *compilation) condition(i int, m v1alpha1.MatchCondition) {
	words := vocabulary{base: c.environment.MatchConditions, env: c.environment.MatchConditions}
	if x := c.expression(conditionPlace(i, m.Expression), words, types.BoolType); x != nil {
		c.read(c.trees[x])
		c.conditions = append(c.conditions, x)
	}
}

func (c *compilation) rule(i int, r v1alpha1.Rule) {
	compiled := Rule{Phase: cmp.Or(r.Phase, corev1.PodFailed)}
	if compiled.Phase == v1alpha1.PhaseTerminating {
		c.reads.Node.AddAll(readiness)
	}
	words := c.vocabulary(compiled.Phase)
	v := unknown
	p := rulePlace(i, r.Name, "when", r.When)
	if compiled.When = c.expression(p, words, types.BoolType); compiled.When != nil {
		tree := c.trees[compiled.When]
		c.read(tree)
		v = c.reach(p, tree, compiled.Phase)
		c.report(p.waiting(tree, compiled.Phase)...)
		compiled.Due = c.due(tree.Expr())
	}
	if r.MessageExpression != "" {
		p := rulePlace(i, r.Name, "messageExpression", r.MessageExpression)
		if compiled.Message = c.expression(p, words, types.StringType); compiled.Message != nil {
			c.read(c.trees[compiled.Message])
		}
	}
	compiled.Always = v == always
	c.rules, c.verdicts = append(c.rules, compiled), append(c.verdicts, v)
}

// check parses and type-checks an expression, and reports its problems. It returns nil if there is an error.
func (c *compilation) check(p place, env *cel.Env, want *types.Type) *ast.AST {
	if n := utf8.RuneCountInString(p.text); n > MaxExpression {
		c.report(p.err(CheckLimit, p.start(), fmt.Sprintf("the expression has %d characters: at most %d are allowed", n, MaxExpression), ""))
		return nil
	}
	parsed, issues := env.Parse(p.text)
	if issues.Err() != nil {
		c.report(p.syntax(issues.Errors()))
		return nil
	}
	before := len(c.findings)
	env = c.references(p, env, parsed.NativeRep())
	c.report(p.constructions(parsed.NativeRep(), isObject(c.environment))...)
	checked, issues := env.Check(parsed)
	if issues.Err() != nil {
		c.report(c.typeErrors(p, env, issues.Errors())...)
		return nil
	}
	if hasErrors(c.findings[before:]) {
		return nil
	}
	tree := checked.NativeRep()
	if got := checked.OutputType(); want != nil && !got.IsExactType(want) {
		if got.Kind() != types.DynKind || !c.usesInvalid(tree.Expr()) {
			c.checkResult(p, got, want)
		}
		return nil
	}
	if !c.estimate(p, env, checked) {
		return nil
	}
	c.report(c.guards(p, tree)...)
	c.report(p.words(tree)...)
	return tree
}

// expression compiles an expression, which must have the type want unless want is nil. It reports errors and returns nil for an
// expression that has one.
func (c *compilation) expression(p place, words vocabulary, want *types.Type) *Expression {
	before := c.cost
	tree := c.check(p, words.env, want)
	if tree == nil {
		return nil
	}
	if err := plan(words.env, tree); err != nil {
		c.report(p.err(CheckPlan, p.start(), err.Error(), ""))
		return nil
	}
	lean := vocabulary{base: words.base, variables: words.variables} // without the environment, which Check rebuilds
	x := &Expression{
		Rule: p.rule, Field: p.path, Text: p.text, Type: tree.GetType(tree.Expr().ID()), Cost: c.cost - before, words: lean,
	}
	c.trees[x] = tree
	return x
}

// plan rejects literals that CEL cannot evaluate: durations, timestamps and regular expressions.
func plan(env *cel.Env, tree *ast.AST) error {
	_, err := env.PlanProgram(tree, cel.EvalOptions(cel.OptOptimize), cel.OptimizeRegex(
		interpreter.MatchesRegexOptimization, apilibrary.FindRegexOptimization, apilibrary.FindAllRegexOptimization))
	return err
}
