package custom

import (
	"context"

	"github.com/google/cel-go/cel"

	"github.com/podverdict/podverdict/compiler/custom/native"
	"github.com/podverdict/podverdict/compiler/custom/schema"
)

// Decides is whether closures alone say of the rule what it is for the pod.
func (p *Policy) Decides(rule int, in Input) bool {
	e := p.begin(context.Background(), in)
	defer e.end()
	when := p.rules[rule].when.native.Bool
	return when != nil && when(e.frame) != native.Undecided
}

// Complete is whether closures know all of the rule.
func (p *Policy) Complete(rule int) bool { return p.rules[rule].when.native.Complete }

// Schema is the environment's.
func (e *Environment) Schema() *schema.Schema { return e.schema }

// ActualCost is what the interpreter has spent on the rule, or 0 if it failed.
func (p *Policy) ActualCost(rule int, in Input) uint64 {
	e := p.begin(context.Background(), in)
	defer e.end()
	if _, err := e.interpret(&p.rules[rule].when); err != nil || e.interpreter == nil {
		return 0
	}
	return e.interpreter.spent
}

// Env is the CEL environment of rules on Pending, which has everything.
func (e *Environment) Env() *cel.Env { return e.ofPending }
