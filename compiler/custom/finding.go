package custom

import (
	"fmt"
	"strings"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/hint"
)

// Checks of Compile, as named in its findings.
const (
	// Errors: the policy does not compile.

	CheckLimit     = "policy-too-large"
	CheckSyntax    = "expression-syntax"
	CheckType      = "expression-type"
	CheckVariable  = "unknown-variable"
	CheckCycle     = "variable-cycle"
	CheckCost      = "expression-cost"
	CheckPlan      = "expression-plan"
	CheckConstruct = "object-construction"

	// Warnings: the policy compiles, but does not do what its author means.

	CheckGuard       = "unguarded-has"
	CheckAbsent      = "unguarded-field"
	CheckNever       = "never-matches"
	CheckDeadPart    = "never-true"
	CheckAlways      = "always-matches"
	CheckUnreachable = "unreachable-rule"
	CheckMisspelt    = "misspelt-word"
	CheckExitCode    = "exit-code-out-of-range"
	CheckWaiting     = "waiting-in-failed-rule"
)

// NoRule is the Rule of a Finding that is not about a rule, and of a Match without a
// rule.
const NoRule = -1

// Finding is one thing that Compile has to say about a policy.
type Finding struct {
	Check    string            `json:"check"`
	Severity compiler.Severity `json:"severity"`
	// Rule is the index of the rule, or NoRule for match conditions and variables.
	Rule int `json:"rule"`
	// RuleName is the rule's name.
	RuleName string `json:"ruleName,omitempty"`
	// Field is the path of the expression, as in spec.rules[2].when.
	Field string `json:"field"`
	// Line and Column are the place in the expression, both from 1. Columns count
	// characters.
	Line   int `json:"line"`
	Column int `json:"column"`
	// Expression is the whole text.
	Expression string `json:"expression"`
	Message    string `json:"message"`
	// Hint says what to do about it, or is empty.
	Hint string `json:"hint,omitempty"`
}

// String returns the finding in several lines: where and what it is, the line of the
// expression with a caret, and the hint.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: %s: %s (%s)\n%s", f.Field, f.Line, f.Column, f.Severity, f.Message, f.Check, f.Excerpt())
	if f.Hint != "" {
		fmt.Fprintf(&b, "\n   %s", f.Hint)
	}
	return b.String()
}

// How much of a long line is shown before the caret, and in all.
const (
	shownBefore = 60
	shown       = 100
)

// Excerpt returns the line of the expression, or the part of it around the place, with a
// caret below.
func (f Finding) Excerpt() string {
	lines := strings.Split(f.Expression, "\n")
	if f.Line > len(lines) {
		return hint.Caret("", 0)
	}
	line := []rune(strings.ReplaceAll(strings.TrimSuffix(lines[f.Line-1], "\r"), "\t", " "))
	column := min(f.Column-1, len(line))
	if cut := column - shownBefore; cut > 0 && len(line) > shown {
		line = append([]rune("..."), line[cut:]...)
		column -= cut - 3
	}
	if len(line) > shown {
		line = append(line[:shown:shown], []rune("...")...)
	}
	return hint.Caret(string(line), column)
}
