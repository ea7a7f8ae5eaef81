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

// expression is one that is ready to be evaluated: by closures, and by CEL's interpreter
// where they are undecided. It is shared by goroutines.
type expression struct {
	closure closure.Expression
	// check gives the checked expression, which is not kept.
	check func() (checked, error)
	// of is where a custom policy has the expression, and nil for a Job's own rules.
	of *custom.Expression
	// program is for CEL's interpreter, and dissections are for explanations. Both are made
	// when they are first needed: they take many times the memory of the closures.
	program     atomic.Pointer[metered.Program]
	dissections atomic.Pointer[sync.Pool]
}

// checked is a checked expression in its environment.
type checked struct {
	env  *cel.Env
	tree *ast.AST
	// match is what the rule of a podFailurePolicy asks for, and nil for others.
	match compiler.Match
}

func newExpression(closures *closure.Compiler, x *custom.Expression) *expression {
	return &expression{closure: closures.Compile(x.Tree), of: x, check: func() (checked, error) {
		env, tree, err := x.Check()
		return checked{env, tree, nil}, err
	}}
}

// plan is the expression's program for CEL's interpreter.
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

// isBool is whether the expression says yes or no.
func (x *expression) isBool() bool { return x.of == nil || x.of.Type.IsExactType(types.BoolType) }
