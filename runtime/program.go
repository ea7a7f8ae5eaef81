package runtime

import (
	"iter"
	"slices"

	"github.com/podverdict/podverdict/compiler"
)

// Program is one ordered list of rules, ready for evaluation: the rules of a Job's podFailurePolicy, and of custom policies
// before and after them. It is immutable and safe for concurrent use.
type Program struct {
	policies []*Policy
}

// NewProgram returns a Program for a compiled podFailurePolicy.
func NewProgram(c *compiler.Compiled) *Program {
	return &Program{policies: []*Policy{newOwnPolicy(c)}}
}

// Join returns a Program with one ordered list of rules: the rules of the policies in before, of own, which is the Job's
// podFailurePolicy or nil, and of the policies in after. The caller must have checked that the policies apply to the Job
// (Policy.Applies).
func Join(before []*Policy, own *Program, after []*Policy) *Program {
	joined := slices.Clone(before)
	if own != nil {
		joined = append(joined, own.policies...)
	}
	return &Program{policies: append(joined, after...)}
}

// OnFailed returns the rules on failed pods in order, each as its policy and its index there. The policy's name is empty for
// the Job's own podFailurePolicy.
func (p *Program) OnFailed() iter.Seq2[*Policy, int] {
	return func(yield func(*Policy, int) bool) {
		for _, policy := range p.policies {
			for _, r := range policy.onFailed {
				if !yield(policy, r.number) {
					return
				}
			}
		}
	}
}

// Interpreted returns the program without closures: CEL's interpreter evaluates every rule. Tests check that the verdicts
// are the same.
func (p *Program) Interpreted() *Program {
	interpreted := &Program{}
	for _, policy := range p.policies {
		interpreted.policies = append(interpreted.policies, policy.Interpreted())
	}
	return interpreted
}
