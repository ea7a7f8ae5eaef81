package compiler

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PolicyError lists all errors for which the API server rejects a policy. Paths are
// relative to the policy, as in rules[0].action.
type PolicyError struct {
	Errors field.ErrorList
}

func (e *PolicyError) Error() string { return e.Errors.ToAggregate().Error() }

// CompileError reports the rule that cannot be compiled, and the reason.
type CompileError struct {
	// Rule is the index of the rule.
	Rule int
	Err  error
}

func (e *CompileError) Error() string { return fmt.Sprintf("rules[%d]: %v", e.Rule, e.Err) }

func (e *CompileError) Unwrap() error { return e.Err }
