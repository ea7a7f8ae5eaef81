package apiserver

import (
	"context"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// meteredCompiler is the API server's compiler with two additions: its programs report
// their cost to the charges in their context, and it keeps the problems of expressions.
type meteredCompiler struct {
	compiler plugincel.Compiler
	problems []Problem
}

// CompileCELExpression compiles one expression.
func (c *meteredCompiler) CompileCELExpression(a plugincel.ExpressionAccessor, o plugincel.OptionalVariableDeclarations, mode environment.Type) plugincel.CompilationResult {
	r := c.compiler.CompileCELExpression(a, o, mode)
	field := ""
	if e, ok := a.(*expression); ok {
		field = e.field
	}
	if r.Error != nil {
		c.problems = append(c.problems, problemsOf(field, a.GetExpression(), r.Error)...)
	} else {
		r.Program = meteredProgram{Program: r.Program, field: field}
	}
	return r
}

// CompileCondition compiles expressions.
func (c *meteredCompiler) CompileCondition(all []plugincel.ExpressionAccessor, o plugincel.OptionalVariableDeclarations, mode environment.Type) plugincel.ConditionEvaluator {
	results := make([]plugincel.CompilationResult, len(all))
	for i, a := range all {
		results[i] = c.CompileCELExpression(a, o, mode)
	}
	return plugincel.NewCondition(results)
}

type meteredProgram struct {
	cel.Program

	field string
}

// ContextEval evaluates the program and reports its cost, without that of the variables
// that it is the first to ask for: they report theirs before.
func (p meteredProgram) ContextEval(ctx context.Context, vars any) (ref.Val, *cel.EvalDetails, error) {
	value, details, err := p.Program.ContextEval(ctx, vars)
	if charges, ok := ctx.Value(chargesKey{}).(*[]Charge); ok && details != nil && details.ActualCost() != nil {
		*charges = append(*charges, Charge{Field: p.field, Used: *details.ActualCost(), Err: err})
	}
	return value, details, err
}

type chargesKey struct{}
