package custom

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
)

// reference is a selection from variables.
type reference struct {
	name string
	expr ast.Expr
}

func referencesIn(e ast.Expr) []reference {
	var found []reference
	Visit(e, nil, func(e ast.Expr, locals []string) {
		if e.Kind() != ast.SelectKind || slices.Contains(locals, compiler.VariablesVariable) {
			return
		}
		if s := e.AsSelect(); s.Operand().Kind() == ast.IdentKind && s.Operand().AsIdent() == compiler.VariablesVariable {
			found = append(found, reference{s.FieldName(), e})
		}
	})
	return found
}

// variableGraph holds the variables and their dependencies.
type variableGraph struct {
	names []string
	index map[string]int
	uses  [][]string
}

// newVariableGraph returns the graph without expressions that cannot be parsed. They are reported
// later.
func newVariableGraph(env *cel.Env, variables []v1alpha1.Variable) variableGraph {
	g := variableGraph{index: map[string]int{}, uses: make([][]string, len(variables))}
	for i, v := range variables {
		g.names = append(g.names, v.Name)
		g.index[v.Name] = i
		if len(v.Expression) > 4*MaxExpression {
			continue
		}
		if parsed, issues := env.Parse(v.Expression); issues.Err() == nil {
			for _, r := range referencesIn(parsed.NativeRep().Expr()) {
				g.uses[i] = append(g.uses[i], r.name)
			}
		}
	}
	return g
}

// path returns the names of the variables on a dependency path between two variables, or nil.
func (g variableGraph) path(from, to string) []string {
	return g.search(from, to, map[string]bool{})
}

func (g variableGraph) search(from, to string, seen map[string]bool) []string {
	if from == to {
		return []string{to}
	}
	i, ok := g.index[from]
	if !ok || seen[from] {
		return nil
	}
	seen[from] = true
	for _, next := range g.uses[i] {
		if rest := g.search(next, to, seen); rest != nil {
			return append([]string{from}, rest...)
		}
	}
	return nil
}

// references reports invalid references. It returns an environment that declares their names as
// dyn, so that the rest of the expression can be checked.
func (c *compilation) references(p place, env *cel.Env, tree *ast.AST) *cel.Env {
	var unknown []cel.EnvOption
	seen := map[string]bool{}
	for _, r := range referencesIn(tree.Expr()) {
		at := p.locate(tree, r.expr)
		if r.expr.AsSelect().IsTestOnly() {
			c.report(p.err(CheckVariable, at, fmt.Sprintf("variable %q always has a value: has() is for fields", r.name),
				"leave has() out: "+VariableName(r.name)))
			continue
		}
		if i, ok := c.graph.index[r.name]; ok && i < p.visible {
			continue
		}
		c.report(c.badReference(p, at, r.name))
		if !seen[r.name] {
			unknown = append(unknown, cel.Variable(VariableName(r.name), types.DynType))
			seen[r.name] = true
		}
	}
	if len(unknown) == 0 {
		return env
	}
	return extend(env, unknown)
}
