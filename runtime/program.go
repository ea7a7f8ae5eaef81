package runtime

import (
	"slices"

	"github.com/podverdict/podverdict/compiler"
)

// Program is one ordered list of rules, ready to be evaluated: those of a Job's
// podFailurePolicy, and of custom policies before and after them. It is immutable and
// safe for concurrent use.
type Program struct {
	policies []*Policy
}

// NewProgram returns a Program of a compiled podFailurePolicy.
func NewProgram(c *compiler.Compiled) *Program {
	return &Program{policies: []*Policy{newOwnPolicy(c)}}
}

// Join returns a Program of one ordered list of rules: those of the policies before, in
// order, those of the Job's own podFailurePolicy, and those of the policies after. Own is
// nil for a Job without one. The caller has asked whether the policies apply to the Job
// (Policy.Applies).
func Join(before []*Policy, own *Program, after []*Policy) *Program {
	joined := slices.Clone(before)
	if own != nil {
		joined = append(joined, own.policies...)
	}
	return &Program{policies: append(joined, after...)}
}

// Interpreted returns the same program without closures: CEL's interpreter evaluates every
// rule. The verdicts are the same; tests use it to prove that.
func (p *Program) Interpreted() *Program {
	interpreted := &Program{}
	for _, policy := range p.policies {
		interpreted.policies = append(interpreted.policies, policy.Interpreted())
	}
	return interpreted
}
