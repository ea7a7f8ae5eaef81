package compiler

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PolicyError lists everything that the API server refuses about a policy. Paths start at
// the policy, as in rules[0].action.
type PolicyError struct {
	Errors field.ErrorList
}

func (e *PolicyError) Error() string { return e.Errors.ToAggregate().Error() }

// CompileError says which rule has no expression, and why.
type CompileError struct {
	// Rule is the index of the rule.
	Rule int
	Err  error
}

func (e *CompileError) Error() string { return fmt.Sprintf("rules[%d]: %v", e.Rule, e.Err) }

func (e *CompileError) Unwrap() error { return e.Err }
