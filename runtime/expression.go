package runtime

import (
	"sync"
	"sync/atomic"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime/internal/closure"
	"github.com/podverdict/podverdict/runtime/internal/metered"
)

// expression can be evaluated by closures, and by CEL's interpreter if the closures are undecided. It is safe for
// concurrent use.
type expression struct {
	closure closure.Expression
	// check computes the checked expression, which takes too much memory to store.
	check func() (checked, error)
	// of is the expression of a custom policy, or nil for a Job's own rules.
	of *custom.Expression
	// program is used by CEL's interpreter, dissections by explanations. Both are created on first use, because they take
	// many times the memory of the closures.
	program     atomic.Pointer[metered.Program]
	dissections atomic.Pointer[sync.Pool]
}

// checked is a checked expression with its environment.
type checked struct {
	env  *cel.Env
	tree *ast.AST
	// match is the requirement of a podFailurePolicy's rule, or nil for custom rules.
	match compiler.Match
}

func newExpression(closures *closure.Compiler, x *custom.Expression, tree *ast.AST) *expression {
	return &expression{closure: closures.Compile(tree), of: x, check: func() (checked, error) {
		env, tree, err := x.Check()
		return checked{env, tree, nil}, err
	}}
}

// plan returns the program for CEL's interpreter, creating it on first use.
func (x *expression) plan() (*metered.Program, error) {
	if program := x.program.Load(); program != nil {
		return program, nil
	}
	c, err := x.check()
	if err != nil {
		return nil, err
	}
	program, err := metered.Plan(c.env, c.tree)
	if err == nil {
		x.program.Store(program)
	}
	return program, err
}

// isBool reports whether the expression has type bool.
func (x *expression) isBool() bool { return x.of == nil || x.of.Type.IsExactType(types.BoolType) }
