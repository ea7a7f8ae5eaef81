package runtime

import (
	"slices"

	"github.com/podverdict/podverdict/compiler"
)

// Options of a Program. The zero value is right but for tests.
type Options struct {
	// DisableSpecialization evaluates every rule by CEL's ordinary interpreter.
	// The verdicts are the same; it is there to prove that.
	DisableSpecialization bool
}

// Program is one ordered list of rules, ready to be evaluated: those of a Job's
// podFailurePolicy, and of custom policies before and after them. It is immutable and
// safe for concurrent use.
type Program struct {
	policies []*Policy
}

// NewProgram returns a Program of a compiled podFailurePolicy.
func NewProgram(c *compiler.Compiled, o Options) (*Program, error) {
	return &Program{policies: []*Policy{newOwnPolicy(c, o)}}, nil
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
