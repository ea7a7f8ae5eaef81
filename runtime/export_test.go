package runtime

import (
	"context"
	"maps"
	"slices"

	"github.com/podverdict/podverdict/runtime/internal/closure"
)

// Match is a custom policy's result for a pod, without the verdict.
type Match struct {
	Rule                int // or NoRule
	Message             string
	MessageErr, Ignored error
}

// Evaluate tries the rules of one policy.
func (p *Policy) Evaluate(ctx context.Context, in Input) (Match, error) {
	m := p.match(ctx, in)
	found := Match{Rule: NoRule, Message: m.message, MessageErr: m.messageErr, Ignored: m.ignored}
	if m.rule != nil {
		found.Rule = m.rule.number
	}
	return found, m.err
}

// rule returns the rule with a number.
func (p *Policy) rule(number int) *rule {
	for _, rules := range append(slices.Collect(maps.Values(p.onLiving)), p.onFailed) {
		for i := range rules {
			if rules[i].number == number {
				return &rules[i]
			}
		}
	}
	return nil
}

// Decides reports whether closures decide the rule for the pod without the interpreter.
func (p *Policy) Decides(rule int, in Input) bool {
	e := p.begin(context.Background(), in)
	defer e.end()
	when := p.rule(rule).when.closure
	return when.Find != nil || when.Bool != nil && when.Bool(&e.frame) != closure.Undecided
}

// Complete reports whether closures support the whole rule.
func (p *Policy) Complete(rule int) bool { return p.rule(rule).when.closure.Complete }

// ActualCost returns the interpreter's cost of the rule, or 0 if it failed.
func (p *Policy) ActualCost(rule int, in Input) uint64 {
	e := p.begin(context.Background(), in)
	defer e.end()
	if _, err := e.interpret(p.rule(rule).when); err != nil || e.interpreter == nil {
		return 0
	}
	return e.interpreter.spent
}
