package runtime

import (
	"sync"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/parser"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime/metered"
)

// dissection is an expression that is taken apart, with the programs of its parts. To
// make one takes milliseconds, and it is large: those of an expression are in a pool,
// which keeps them as long as the expression is explained again and again.
type dissection struct {
	checked

	programs map[int64]plannedPart
}

// plannedPart is the program of a part, or why there is none.
type plannedPart struct {
	program *metered.Program
	err     error
}

// dissect takes an expression apart, and hands it to the function.
func (x *expression) dissect(use func(*dissection)) error {
	pool := x.dissections.Load()
	if pool == nil {
		pool = &sync.Pool{}
		if !x.dissections.CompareAndSwap(nil, pool) {
			pool = x.dissections.Load()
		}
	}
	d, known := pool.Get().(*dissection)
	if !known {
		c, err := x.check()
		if err != nil {
			return err
		}
		d = &dissection{c, map[int64]plannedPart{}}
	}
	use(d)
	pool.Put(d)
	return nil
}

// plan is the program of a part.
func (d *dissection) plan(e ast.Expr) (*metered.Program, error) {
	planned, known := d.programs[e.ID()]
	if !known {
		part := ast.NewCheckedAST(ast.NewAST(e, d.tree.SourceInfo()), d.tree.TypeMap(), d.tree.ReferenceMap())
		planned.program, planned.err = metered.Plan(d.env, part)
		d.programs[e.ID()] = planned
	}
	return planned.program, planned.err
}

// text is a part as CEL: as the author would write it in YAML, or as the compiler prints
// it.
func (d *dissection) text(e ast.Expr) string {
	if d.match == nil {
		return custom.Unparse(d.tree, e)
	}
	text, err := parser.Unparse(e, d.tree.SourceInfo(), parser.WrapOnColumn(compiler.OneLine))
	if err != nil {
		return "this"
	}
	return text
}
