package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime/internal/metered"
)

var (
	// errBudget means that the total cost of one policy's expressions for one pod was too high.
	errBudget = fmt.Errorf("the policy's expressions cost more than %d together", compiler.CostBudget)
	// errTime means that one policy's expressions took too long for one pod.
	errTime = fmt.Errorf("the policy's expressions took longer than %v", maxTime)
)

// EvaluationError is the error of an expression that could not be evaluated.
type EvaluationError struct {
	// Rule is the index of the rule, or NoRule.
	Rule int
	// Field is the path of the expression.
	Field string
	Err   error
}

func (e *EvaluationError) Error() string { return fmt.Sprintf("%s: %v", e.Field, e.Err) }

func (e *EvaluationError) Unwrap() error { return e.Err }

// evaluationError adds the expression's position to its error.
func (p *Policy) evaluationError(x *expression, err error) error {
	if x.of != nil {
		return &EvaluationError{Rule: x.of.Rule, Field: x.of.Field, Err: err}
	}
	for i := range p.onFailed {
		if p.onFailed[i].when == x {
			return &EvaluationError{Rule: i, Field: fmt.Sprintf("rules[%d]", i), Err: fmt.Errorf("evaluate: %w", err)}
		}
	}
	return err
}

// Cause is the reason why an expression has no value.
type Cause string

// The values of Cause: CEL has an error, or the evaluation was stopped because of its cost, because of its duration, or
// because its context was done.
const (
	CauseError    Cause = "Error"
	CauseCost     Cause = "Cost"
	CauseTime     Cause = "Time"
	CauseCanceled Cause = "Canceled"
)

// Cause returns the reason why the expression has no value.
func (e *EvaluationError) Cause() Cause {
	switch {
	case errors.Is(e.Err, errBudget) || errors.As(e.Err, new(*metered.LimitError)):
		return CauseCost
	case errors.Is(e.Err, errTime):
		return CauseTime
	case errors.Is(e.Err, context.Canceled) || errors.Is(e.Err, context.DeadlineExceeded):
		return CauseCanceled
	default:
		return CauseError
	}
}

// PolicyError means that a rule or a match condition of a custom policy could not be evaluated.
type PolicyError struct {
	Policy string
	// RuleName is the name of the rule, or empty for a match condition.
	RuleName string
	Cause    Cause
	// Err names the field of the expression.
	Err error
}

func (e *PolicyError) Error() string { return fmt.Sprintf("PodFailurePolicy %s: %v", e.Policy, e.Err) }

func (e *PolicyError) Unwrap() error { return e.Err }

func (p *Policy) policyError(err error) *PolicyError {
	told := &PolicyError{Policy: p.Name, Cause: CauseCanceled, Err: err}
	if of, ok := errors.AsType[*EvaluationError](err); ok {
		told.Cause = of.Cause()
		if of.Rule != NoRule {
			told.RuleName = p.Rules[of.Rule].Name
		}
	}
	return told
}

// told returns a rule's error in the form used by a Verdict.
func (p *Policy) told(err error) error {
	if err == nil || p.own != nil {
		return err
	}
	if already, ok := errors.AsType[*PolicyError](err); ok {
		return already
	}
	return p.policyError(err)
}
