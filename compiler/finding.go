package compiler

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podverdict/podverdict/internal/didyoumean"
)

// Severity is how sure a finding is to hurt.
type Severity string

const (
	// Error is a rule that cannot do what it says.
	Error Severity = "error"
	// Warning is a rule that may do what its author did not mean.
	Warning Severity = "warning"
)

// Checks of Lint and of custom.Compile. Package custom names those of its own.
const (
	CheckUnreachable      = "unreachable-rule"
	CheckShadowed         = "shadowed-rule"
	CheckDisruptionOrder  = "disruption-after-exit-codes"
	CheckDisruptionFatal  = "disruption-is-fatal"
	CheckSidecar          = "sidecar-exit-code"
	CheckUnboundedIgnore  = "unbounded-ignore"
	CheckFailIndexLimit   = "fail-index-without-limit"
	CheckExitCode         = "exit-code-out-of-range"
	CheckMisspelt         = "misspelt-word"
	CheckRestartedCode    = "restarted-exit-code"
	CheckUnboundedRestart = "unbounded-restart"
)

// NoRule is the Rule of a Finding that is not about a rule.
const NoRule = -1

// Finding is one thing that Lint has to say about a podFailurePolicy, or custom.Compile about
// a PodFailurePolicy.
type Finding struct {
	Check    string   `json:"check"`
	Severity Severity `json:"severity"`
	// Rule is the index of the rule, or NoRule.
	Rule int `json:"rule"`
	// RuleName is the name of a custom policy's rule.
	RuleName string `json:"ruleName,omitempty"`
	// Field is the path from the object, as in
	// spec.podFailurePolicy.rules[1].onExitCodes or spec.rules[2].when.
	Field   string `json:"field"`
	Message string `json:"message"`
	// Hint says what to do about it, or is empty.
	Hint string `json:"hint,omitempty"`
	// Instead is the expression with what Hint proposes in it, for those who try that first; empty where it proposes no text.
	// Otherwise is the hint where that does not do.
	Instead   string `json:"-"`
	Otherwise string `json:"-"`
	// Expression is the CEL that a custom policy has in the field. It is empty for other
	// fields.
	Expression string `json:"expression,omitempty"`
	// Line and Column are the place in the expression, both from 1. Columns count
	// characters.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// String returns the finding in one line. For a finding in an expression, the line of the
// expression with a caret and the hint follow.
func (f Finding) String() string {
	if f.Expression == "" && f.Line == 0 {
		return fmt.Sprintf("%s: %s: %s (%s)", f.Field, f.Severity, f.Message, f.Check)
	}
	text := fmt.Sprintf("%s:%d:%d: %s: %s (%s)\n%s", f.Field, f.Line, f.Column, f.Severity, f.Message, f.Check, f.Excerpt())
	if f.Hint != "" {
		text += "\n   " + f.Hint
	}
	return text
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
		return didyoumean.Caret("", 0)
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
	return didyoumean.Caret(string(line), column)
}

func rulePath(i int) *field.Path {
	return field.NewPath("spec", "podFailurePolicy", "rules").Index(i)
}
