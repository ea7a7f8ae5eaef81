package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime/internal/metered"
)

// maxTime is the maximum duration of the interpreter for all expressions of a policy on one pod. The cost limits end an
// evaluation much earlier, unless the machine is overloaded.
const maxTime = 2 * time.Second

// interpreter evaluates expressions of one policy for one pod with CEL's interpreter. It resolves their variables.
type interpreter struct {
	*evaluation

	ctx context.Context //nolint:containedctx // the evaluation's, with a deadline
	// release cancels the context.
	release context.CancelFunc
	// values caches the values of the policy's variables, by index.
	values []ref.Val
	// spent is the cost of the expressions so far.
	spent uint64
}

func (e *evaluation) interpret(x *expression) (ref.Val, error) {
	if e.ctx.Err() != nil { // the interpreter checks only once in a thousand units
		return nil, context.Cause(e.ctx)
	}
	if e.interpreter == nil {
		ctx, release := context.WithTimeoutCause(e.ctx, maxTime, errTime)
		e.interpreter = &interpreter{evaluation: e, ctx: ctx, release: release, values: make([]ref.Val, len(e.policy.variables))}
	}
	if e.interpreter.ctx.Err() != nil {
		return nil, context.Cause(e.interpreter.ctx)
	}
	program, err := x.plan()
	if err != nil {
		return nil, err
	}
	return e.interpreter.eval(program, e.interpreter)
}

func (i *interpreter) eval(program *metered.Program, names cel.Activation) (ref.Val, error) {
	limit := min(compiler.CostLimit, compiler.CostBudget-min(compiler.CostBudget, i.spent))
	value, spent, err := program.Eval(i.ctx, names, limit)
	i.spent += spent
	if i.spent > compiler.CostBudget || limit < compiler.CostLimit && errors.As(err, new(*metered.LimitError)) {
		return nil, errBudget
	}
	return value, err
}

// ResolveName returns the value of a name in an expression.
func (i *interpreter) ResolveName(name string) (any, bool) {
	if value, ok := i.in.value(name); ok {
		return value, true
	}
	n, ok := i.policy.variableNumbers[name]
	if !ok {
		return nil, false
	}
	if i.values[n] == nil {
		i.values[n] = i.variable(n)
	}
	return i.values[n], true
}

// Parent returns nil: there is no outer activation.
func (*interpreter) Parent() cel.Activation { return nil }

// variable evaluates a variable. An error becomes the error of the expression that uses it.
func (i *interpreter) variable(n int) ref.Val {
	v := &i.policy.variables[n]
	program, err := v.plan()
	var value ref.Val
	if err == nil {
		value, err = i.eval(program, i)
	}
	if err != nil {
		return types.WrapErr(fmt.Errorf("%s: %w", v.name, err))
	}
	return value
}
