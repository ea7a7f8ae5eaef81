package custom

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/didyoumean"
)

// compiledVariable is a variable of a policy.
type compiledVariable struct {
	name string
	// typ is dyn and tree is nil if the variable does not compile.
	typ        *types.Type
	tree       *ast.AST
	expression *Expression
	verdict    verdict
	origin     origin
}

// VariableName returns the name under which expressions use a policy's variable.
func VariableName(name string) string { return compiler.VariablesVariable + "." + name }

func (c *compilation) variable(i int, v v1alpha1.Variable) {
	p := variablePlace(i, v.Expression)
	compiled := compiledVariable{name: v.Name, typ: types.DynType}
	words := c.vocabulary(corev1.PodFailed)
	if x := c.expression(p, words, nil); x != nil {
		compiled.expression, compiled.tree, compiled.typ = x, c.trees[x], x.Type
		compiled.verdict = c.verdictOf(p, compiled.tree, "")
		compiled.origin = c.read(compiled.tree)
		c.measure(VariableName(v.Name), v.Expression, words.env, compiled.typ)
	}
	c.variables = append(c.variables, compiled)
}

// usesInvalid reports whether an expression uses a variable with an error. The error is reported at
// the variable.
func (c *compilation) usesInvalid(e ast.Expr) bool {
	invalid := false
	Visit(e, nil, func(e ast.Expr, _ []string) {
		for _, v := range c.variables {
			invalid = invalid || e.Kind() == ast.IdentKind && v.tree == nil && e.AsIdent() == VariableName(v.name)
		}
	})
	return invalid
}

// vocabulary is the set of names that expressions may use: an environment and the preceding
// variables.
type vocabulary struct {
	base      *cel.Env
	variables []cel.EnvOption
	// env is base extended by the variables. A compiled policy discards it and rebuilds it when
	// needed: a hundred environments take a megabyte.
	env *cel.Env
}

// vocabulary returns the vocabulary of rules on a phase. It declares new variables lazily, when the
// first expression after them is checked.
func (c *compilation) vocabulary(phase corev1.PodPhase) vocabulary {
	words := &c.ofFailed
	if v1alpha1.Lives(phase) {
		words = &c.ofLiving
	}
	if len(words.variables) < len(c.variables) {
		declarations := make([]cel.EnvOption, len(c.variables))
		for i, v := range c.variables {
			declarations[i] = cel.Variable(VariableName(v.name), v.typ)
		}
		*words = vocabulary{base: words.base, variables: declarations, env: extend(words.base, declarations)}
	}
	return *words
}

// extend declares variables. Their names are distinct, so extending cannot fail. If it did, each
// reference would be reported as undeclared.
func extend(env *cel.Env, declarations []cel.EnvOption) *cel.Env {
	extended, err := env.Extend(declarations...)
	if err != nil {
		return env
	}
	return extended
}

// badReference returns a finding for a variable that the expression cannot use.
func (c *compilation) badReference(p place, at common.Location, name string) compiler.Finding {
	i, defined := c.graph.index[name]
	switch {
	case defined && p.isCondition():
		return p.err(CheckVariable, at, fmt.Sprintf("match conditions are looked at before variables: %q is not defined here", name), "")
	case !defined:
		return p.err(CheckVariable, at, fmt.Sprintf("there is no variable %q", name),
			didyoumean.Names(name, c.graph.names[:min(p.visible, len(c.graph.names))], VariableName("")))
	}
	user := c.graph.names[p.visible]
	switch path := c.graph.path(name, user); len(path) {
	case 0:
		return p.err(CheckVariable, at, fmt.Sprintf("variable %q is defined later, at spec.variables[%d]", name, i),
			fmt.Sprintf("move %q before spec.variables[%d]", name, p.visible))
	case 1:
		return p.err(CheckCycle, at, fmt.Sprintf("variable %q uses itself", user), "")
	default:
		return p.err(CheckCycle, at, fmt.Sprintf("variables use each other in a circle: %s -> %s", user, strings.Join(path, " -> ")), "")
	}
}
