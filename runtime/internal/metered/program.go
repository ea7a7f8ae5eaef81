package metered

import (
	"context"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// Program is a planned expression. It is immutable and safe for concurrent use.
type Program struct {
	root interpreter.InterpretableV2
	// kept is the number of argument values that an evaluation keeps.
	kept int
}

// Plan plans a checked expression.
func Plan(env *cel.Env, tree *ast.AST) (*Program, error) {
	p := newPlanner(tree)
	if _, err := env.PlanProgram(tree, cel.CustomDecoratorV2(p.decorate)); err != nil {
		return nil, err
	}
	return &Program{root: p.root, kept: p.kept}, nil
}

// LimitError means that the evaluation of an expression was stopped because it cost more than the limit.
type LimitError struct{ Limit uint64 }

func (e *LimitError) Error() string {
	return fmt.Sprintf("the expression costs more than %d", e.Limit)
}

// errUnwatched reports a bug: every node but literals is planned with a watch.
func errUnwatched(function string, arg interpreter.InterpretableV2) error {
	return fmt.Errorf("an argument of %s, node %d, cannot be charged", function, arg.ID())
}

// Eval evaluates the expression over names. It returns the cost spent, even if it fails. The error is a *LimitError if the
// expression would cost more than the limit, and the context's cause if the context is done.
func (p *Program) Eval(ctx context.Context, names cel.Activation, limit uint64) (value ref.Val, spent uint64, err error) {
	m := &meter{Activation: names, ctx: ctx, limit: limit, kept: make([]ref.Val, p.kept)}
	defer func() {
		spent = m.spent
		switch r := recover().(type) {
		case nil:
		case stop:
			value, err = nil, r.cause
		default:
			value, err = nil, fmt.Errorf("internal error: %v", r)
		}
	}()
	frame, err := interpreter.NewExecutionFrame(m)
	if err != nil {
		return nil, 0, err
	}
	defer frame.Close()
	value = p.root.Exec(frame)
	if failed, ok := value.(*types.Err); ok {
		return value, 0, failed
	}
	return value, 0, nil
}
