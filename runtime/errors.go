package runtime

import (
	"errors"
	"fmt"

	"github.com/podverdict/podverdict/compiler/custom"
)

var errNoLastGood = errors.New("the status keeps no older version of the policy")

func errPlan(rule int, err error) error {
	return fmt.Errorf("rules[%d]: plan: %w", rule, err)
}

func errTooLarge(elements int) error {
	return fmt.Errorf("the pod's status has a list of %d elements: the interpreter takes %d", elements, maxElements)
}

func errEvaluate(rule int, err error) error {
	return fmt.Errorf("rules[%d]: evaluate: %w", rule, err)
}

// errNoCause would be a defect: the expression is true of a pod in which the rule
// matches nothing.
func errNoCause(rule int) error {
	return fmt.Errorf("rules[%d]: evaluate: the expression is true, but nothing in the pod matches the rule", rule)
}

// PolicyError is why a rule or a match condition of a custom policy could not be
// evaluated.
type PolicyError struct {
	Policy string
	// RuleName is the rule's, and empty for a match condition.
	RuleName string
	Cause    custom.Cause
	// Err names the field of the expression.
	Err error
}

func (e *PolicyError) Error() string { return fmt.Sprintf("PodFailurePolicy %s: %v", e.Policy, e.Err) }

func (e *PolicyError) Unwrap() error { return e.Err }

func (c *CustomPolicy) policyError(err error) *PolicyError {
	told := &PolicyError{Policy: c.Name, Cause: custom.CauseCanceled, Err: err}
	if of, ok := errors.AsType[*custom.EvaluationError](err); ok {
		told.Cause = of.Cause()
		if of.Rule != custom.NoRule {
			told.RuleName = c.Rules[of.Rule].Name
		}
	}
	return told
}
