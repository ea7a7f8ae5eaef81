package runtime

import (
	"sync"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/parser"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime/internal/metered"
)

// dissection is an expression with the programs of its parts. Creating one takes milliseconds and much memory. Each
// expression has a pool of them, which keeps them only while the expression is explained often.
type dissection struct {
	checked

	programs map[int64]plannedPart
}

// plannedPart is the program of a part, or the error that prevents one.
type plannedPart struct {
	program *metered.Program
	err     error
}

// dissect calls use with a dissection of the expression.
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

// plan returns the program of a part, planning it on first use.
func (d *dissection) plan(e ast.Expr) (*metered.Program, error) {
	planned, known := d.programs[e.ID()]
	if !known {
		part := ast.NewCheckedAST(ast.NewAST(e, d.tree.SourceInfo()), d.tree.TypeMap(), d.tree.ReferenceMap())
		planned.program, planned.err = metered.Plan(d.env, part)
		d.programs[e.ID()] = planned
	}
	return planned.program, planned.err
}

// text returns the CEL of a part: with single quotes for a custom rule, as authors write it in YAML, and as printed by the
// compiler for a podFailurePolicy.
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
