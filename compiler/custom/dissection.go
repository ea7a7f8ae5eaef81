package custom

import (
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"

	"github.com/podverdict/podverdict/compiler/custom/metered"
)

// dissection is an expression that is taken apart, with the programs of its parts. To
// make one takes milliseconds, and it is large: those of an expression are in a pool,
// which keeps them as long as the expression is explained again and again.
type dissection struct {
	env      *cel.Env
	tree     *ast.AST
	programs map[string]plannedPart
	// predicates are those of the expression's loops.
	predicates map[predicate]*dissection
}

// plannedPart is the program of a part, or why there is none.
type plannedPart struct {
	program *metered.Program
	err     error
}

// predicate is what is asked of each element of a loop.
type predicate struct{ variable, text string }

// dissect takes a text apart that has been compiled before; nil if that cannot be.
func dissect(env *cel.Env, text string) *dissection {
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil
	}
	return &dissection{env, checked.NativeRep(), map[string]plannedPart{}, map[predicate]*dissection{}}
}

// dissections are those of an expression that nobody uses now.
func (v vocabulary) dissections(text string) *sync.Pool {
	return &sync.Pool{New: func() any {
		env, err := v.base.Extend(v.variables...)
		if err != nil {
			return (*dissection)(nil)
		}
		return dissect(env, text)
	}}
}

// plan is the program of a part.
func (d *dissection) plan(text string) (*metered.Program, error) {
	planned, known := d.programs[text]
	if !known {
		planned.program, planned.err = planText(d.env, text)
		d.programs[text] = planned
	}
	return planned.program, planned.err
}

// predicate takes apart what is asked of an element.
func (d *dissection) predicate(of predicate, variable cel.EnvOption) *dissection {
	inner, known := d.predicates[of]
	if !known {
		if env, err := d.env.Extend(variable); err == nil {
			inner = dissect(env, of.text)
		}
		d.predicates[of] = inner
	}
	return inner
}
