package custom

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/compiler"
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

func errEnvironment(v string, err error) error {
	return fmt.Errorf("cel environment of kubernetes %s: %w", v, err)
}

func errTooLarge(elements int) error {
	return fmt.Errorf("the pod's status has a list of %d elements: the interpreter takes %d", elements, maxElements)
}

// errBudget is that the expressions of one policy cost too much together, for one pod.
func errBudget() error {
	return fmt.Errorf("the policy's expressions cost more than %d together", CostBudget)
}

// errTime is that the expressions of one policy took too long, for one pod.
func errTime() error { return fmt.Errorf("the policy's expressions took longer than %v", maxTime) }

func errVariable(name string, err error) error {
	return fmt.Errorf("%s.%s: %w", VariablesVariable, name, err)
}

func errMessageLength(n int) error {
	return fmt.Errorf("the message has %d bytes: at most %d are shown", n, MaxMessage)
}

var errMessageEmpty = errors.New("the message is empty")

func errResult(got any) error { return fmt.Errorf("unexpected result of type %T", got) }
