package runtime

import (
	"sync"
	"sync/atomic"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime/closure"
	"github.com/podverdict/podverdict/runtime/metered"
)

// expression can be evaluated by closures, and by CEL's interpreter where the closures are
// undecided. Goroutines share it.
type expression struct {
	closure closure.Expression
	// check returns the checked expression, which takes too much memory to keep.
	check func() (checked, error)
	// of names the expression of a custom policy. It is nil for a Job's own rules.
	of *custom.Expression
	// program is for CEL's interpreter, dissections are for explanations. Both are made on
	// first use, because they take many times the memory of the closures.
	program     atomic.Pointer[metered.Program]
	dissections atomic.Pointer[sync.Pool]
}

// checked is a checked expression and the environment that it was checked in.
type checked struct {
	env  *cel.Env
	tree *ast.AST
	// match is what a rule of a podFailurePolicy asks for. It is nil for custom rules.
	match compiler.Match
}

func newExpression(closures *closure.Compiler, x *custom.Expression) *expression {
	return &expression{closure: closures.Compile(x.Tree), of: x, check: func() (checked, error) {
		env, tree, err := x.Check()
		return checked{env, tree, nil}, err
	}}
}

// plan returns the program for CEL's interpreter, which it plans on first use.
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
