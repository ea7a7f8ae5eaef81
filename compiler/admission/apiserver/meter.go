package apiserver

import (
	"context"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// meteredCompiler is the API server's compiler with two additions: its programs report
// their cost to the meter in their context, and it keeps the results that are errors.
type meteredCompiler struct {
	compiler plugincel.Compiler
	failed   []plugincel.CompilationResult
}

// CompileCELExpression compiles one expression.
func (c *meteredCompiler) CompileCELExpression(a plugincel.ExpressionAccessor, o plugincel.OptionalVariableDeclarations, mode environment.Type) plugincel.CompilationResult {
	r := c.compiler.CompileCELExpression(a, o, mode)
	if r.Error != nil {
		c.failed = append(c.failed, r)
	} else {
		r.Program = meteredProgram{Program: r.Program, expression: a}
	}
	return r
}

// CompileCondition compiles expressions; those that are nil stand for none.
func (c *meteredCompiler) CompileCondition(all []plugincel.ExpressionAccessor, o plugincel.OptionalVariableDeclarations, mode environment.Type) plugincel.ConditionEvaluator {
	results := make([]plugincel.CompilationResult, len(all))
	for i, a := range all {
		if a != nil {
			results[i] = c.CompileCELExpression(a, o, mode)
		}
	}
	return plugincel.NewCondition(results)
}

type meteredProgram struct {
	cel.Program
	expression plugincel.ExpressionAccessor
}

// ContextEval evaluates the program and reports its cost, without that of the variables
// that it is the first to ask for: they report theirs before.
func (p meteredProgram) ContextEval(ctx context.Context, vars any) (ref.Val, *cel.EvalDetails, error) {
	value, details, err := p.Program.ContextEval(ctx, vars)
	if m, ok := ctx.Value(meterKey{}).(*meter); ok && details != nil && details.ActualCost() != nil {
		m.readings = append(m.readings, meterReading{expression: p.expression, cost: *details.ActualCost(), err: err})
	}
	return value, details, err
}

// meter collects the costs of programs, in the order in which they end.
type meter struct {
	readings []meterReading
}

type meterReading struct {
	expression plugincel.ExpressionAccessor
	cost       uint64
	err        error
}

type meterKey struct{}
