package apiserver

import (
	"errors"
	"fmt"
	"strings"

	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/podverdict/podverdict/internal/didyoumean"
)

// Problem is a problem in a policy.
type Problem struct {
	// FieldRef is the place in the policy: spec.validations[0].expression.
	FieldRef string
	// Expression is the source text at FieldRef. It is empty if the problem is not in an
	// expression.
	Expression string
	// Line and Column are the position in the expression, starting at 1. They are zero if the
	// problem concerns the whole expression.
	Line, Column int
	// Message is the API server's message.
	Message string
	// Hint is a similar name, or the list of known names.
	Hint string

	node int64 // id of a node in the expression's syntax tree
}

// CheckError lists all problems of a policy.
type CheckError struct {
	Problems []Problem
}

func (e *CheckError) Error() string {
	texts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		texts[i] = p.String()
	}
	return strings.Join(texts, "\n")
}

// String returns the field and position followed by the message, and then the line of the
// expression with a caret below the error.
func (p Problem) String() string {
	text := p.FieldRef
	if p.Line > 0 {
		text += fmt.Sprintf(":%d:%d", p.Line, p.Column)
	}
	text += ": " + p.Message
	if p.Hint != "" {
		text += ", " + p.Hint
	}
	lines := strings.Split(p.Expression, "\n")
	if p.Line < 1 || p.Line > len(lines) {
		return text
	}
	return text + "\n" + didyoumean.Caret(lines[p.Line-1], p.Column-1)
}

// newCheckError returns nil if there is no problem.
func newCheckError(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return &CheckError{Problems: problems}
}

// problemsOf converts a compiler's error to problems: one for each CEL issue, if the error has
// issues.
func problemsOf(fieldRef, expression string, err *apiservercel.Error) []Problem {
	var compilation *apiservercel.CompilationError
	switch {
	case err == nil:
		return nil
	case !errors.As(err.Cause, &compilation):
		return []Problem{{FieldRef: fieldRef, Expression: expression, Message: err.Detail}}
	}
	var problems []Problem
	for _, e := range compilation.Issues.Errors() {
		problems = append(problems, Problem{
			FieldRef: fieldRef, Expression: expression, Line: max(e.Location.Line(), 0), Column: max(e.Location.Column(), 0) + 1,
			Message: e.Message, node: e.ExprID,
		})
	}
	return problems
}
