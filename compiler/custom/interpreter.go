package custom

import (
	"context"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	corev1 "k8s.io/api/core/v1"
)

// maxElements is how long a list of the pod's status may be for the interpreter,
// which takes time quadratic in it when it tracks the cost.
const maxElements = 5000

// maxTime is how long the interpreter may take for all expressions of a policy on a
// pod. They are meant to take a thousandth of it; but while it tracks the cost, CEL
// takes time quadratic in the iterations of loops, and a loop need not be about the pod.
const maxTime = 5 * time.Second

// interpreter evaluates expressions of one policy for one pod. It is what CEL asks for
// variables.
type interpreter struct {
	*evaluation

	ctx context.Context //nolint:containedctx // as that of the evaluation, with its deadline
	// release frees what the deadline holds.
	release context.CancelFunc
	// values are those of the policy's variables that have been asked for.
	values []ref.Val
	// spent is what the expressions have cost so far.
	spent uint64
}

func (e *evaluation) interpret(x *expression) (ref.Val, error) {
	if e.ctx.Err() != nil { // CEL looks once in a hundred iterations
		return nil, context.Cause(e.ctx)
	}
	if e.interpreter == nil {
		if n := size(&e.frame.Pod.Status); n > maxElements {
			return nil, errTooLarge(n)
		}
		ctx, release := context.WithTimeoutCause(e.ctx, maxTime, errTime())
		e.interpreter = &interpreter{evaluation: e, ctx: ctx, release: release, values: make([]ref.Val, len(e.policy.variables))}
	}
	if e.interpreter.ctx.Err() != nil {
		return nil, context.Cause(e.interpreter.ctx)
	}
	return e.interpreter.eval(x.program, e.interpreter)
}

// size is the length of the longest list of the pod's status.
func size(s *corev1.PodStatus) int {
	return max(len(s.ContainerStatuses), len(s.InitContainerStatuses), len(s.Conditions))
}

func (i *interpreter) eval(plan func() (cel.Program, error), names cel.Activation) (ref.Val, error) {
	program, err := plan()
	if err != nil {
		return nil, err
	}
	value, details, err := program.ContextEval(i.ctx, names)
	if details != nil && details.ActualCost() != nil {
		i.spent += *details.ActualCost()
	}
	switch {
	case err != nil && i.ctx.Err() != nil:
		return nil, context.Cause(i.ctx)
	case err != nil:
		return nil, err
	case i.spent > CostBudget:
		return nil, errBudget()
	default:
		return value, nil
	}
}

// ResolveName is what an expression names.
func (i *interpreter) ResolveName(name string) (any, bool) {
	switch name {
	case PodVariable:
		return i.frame.Pod, true
	case JobVariable:
		return i.frame.Job, true
	case AttemptVariable:
		return i.frame.Attempt, true
	case NowVariable:
		return i.frame.Now, true
	}
	n, ok := i.policy.numbers[name]
	if !ok {
		return nil, false
	}
	if i.values[n] == nil {
		i.values[n] = i.variable(n)
	}
	return i.values[n], true
}

// Parent is for activations that extend others.
func (*interpreter) Parent() cel.Activation { return nil }

// variable is a variable's value, or its error, which is that of whatever asks for it.
func (i *interpreter) variable(n int) ref.Val {
	v := &i.policy.variables[n]
	value, err := i.eval(v.expression.program, i)
	if err != nil {
		return types.WrapErr(errVariable(v.name, err))
	}
	return value
}
