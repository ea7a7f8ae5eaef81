package custom

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom/metered"
)

// Error is everything that Compile has to say about a policy that does not compile,
// warnings included, in the order of the fields.
type Error struct {
	Findings []Finding
}

func (e *Error) Error() string {
	var text []string
	for _, f := range e.Findings {
		if f.Severity == compiler.Error {
			text = append(text, f.String())
		}
	}
	return strings.Join(text, "\n")
}

func isError(f Finding) bool { return f.Severity == compiler.Error }

func hasErrors(findings []Finding) bool { return slices.ContainsFunc(findings, isError) }

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

func errEnvironment(v string, err error) error {
	return fmt.Errorf("cel environment of kubernetes %s: %w", v, err)
}

var (
	// errBudget is that the expressions of one policy cost too much together, for one pod.
	errBudget = fmt.Errorf("the policy's expressions cost more than %d together", CostBudget)
	// errTime is that the expressions of one policy took too long, for one pod.
	errTime = fmt.Errorf("the policy's expressions took longer than %v", maxTime)
)

func errVariable(name string, err error) error {
	return fmt.Errorf("%s.%s: %w", VariablesVariable, name, err)
}

func errMessageLength(n int) error {
	return fmt.Errorf("the message has %d bytes: at most %d are shown", n, MaxMessage)
}

var errMessageEmpty = errors.New("the message is empty")

func errResult(got any) error { return fmt.Errorf("unexpected result of type %T", got) }
