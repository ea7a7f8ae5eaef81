package apiserver

import (
	"errors"
	"fmt"
	"strings"

	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/podverdict/podverdict/internal/didyoumean"
)

// Problem is something wrong with a policy.
type Problem struct {
	// FieldRef is its place in the policy: spec.validations[0].expression.
	FieldRef string
	// Expression is the text at that place. It is empty if the problem is not about an
	// expression.
	Expression string
	// Line and Column are the position in the expression, both from 1. They are zero if
	// the problem is about all of it.
	Line, Column int
	// Message says what is wrong, in the words of the API server.
	Message string
	// Hint is a name that may have been meant, or the names that there are.
	Hint string

	node int64 // of the expression's syntax tree
}

// CheckError lists everything that is wrong with a policy.
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

// String returns the message after its place, and the line of the expression with a caret
// below the place at fault.
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

// problemsOf returns the problems that a compiler has with an expression: one for each
// issue of CEL, if it says so.
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
