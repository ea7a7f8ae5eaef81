package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime/metered"
)

var (
	// errBudget is that the expressions of one policy cost too much together, for one pod.
	errBudget = fmt.Errorf("the policy's expressions cost more than %d together", compiler.CostBudget)
	// errTime is that the expressions of one policy took too long, for one pod.
	errTime = fmt.Errorf("the policy's expressions took longer than %v", maxTime)
)

// EvaluationError says which expression could not be evaluated, and why.
type EvaluationError struct {
	// Rule is the index of the rule, or NoRule.
	Rule int
	// Field is the path of the expression.
	Field string
	Err   error
}

func (e *EvaluationError) Error() string { return fmt.Sprintf("%s: %v", e.Field, e.Err) }

func (e *EvaluationError) Unwrap() error { return e.Err }

// evaluationError names the expression that has an error.
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

// Cause says why an expression has no value.
type Cause string

// The causes: CEL has an error there, or the evaluation was stopped, because of what it
// costs, because it took too long, or because nobody waits for it any more.
const (
	CauseError    Cause = "Error"
	CauseCost     Cause = "Cost"
	CauseTime     Cause = "Time"
	CauseCanceled Cause = "Canceled"
)

// Cause returns why the expression has no value.
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

// PolicyError is why a rule or a match condition of a custom policy could not be
// evaluated.
type PolicyError struct {
	Policy string
	// RuleName is the rule's, and empty for a match condition.
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

// told returns an error of a rule in the form that a Verdict has it.
func (p *Policy) told(err error) error {
	if err == nil || p.own != nil {
		return err
	}
	if already, ok := errors.AsType[*PolicyError](err); ok {
		return already
	}
	return p.policyError(err)
}
