package compiler

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podverdict/podverdict/internal/didyoumean"
)

// Severity is the severity of a finding.
type Severity string

const (
	// Error is the severity of a rule that cannot work as written.
	Error Severity = "error"
	// Warning is the severity of a rule that may not do what its author intended.
	Warning Severity = "warning"
)

// Checks of Lint and of custom.Compile. Package custom defines additional ones.
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

// NoRule is the Rule of a Finding that does not concern a rule.
const NoRule = -1

// Finding is a problem that Lint found in a podFailurePolicy, or custom.Compile in a PodFailurePolicy.
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
	// Hint suggests a fix. It may be empty.
	Hint string `json:"hint,omitempty"`
	// Instead is the expression with the suggestion of Hint applied, for tools that try it. It is empty if Hint suggests no
	// text. Otherwise is the hint to use if Instead does not work.
	Instead   string `json:"-"`
	Otherwise string `json:"-"`
	// Expression is the CEL of the field in a custom policy. It is empty for other fields.
	Expression string `json:"expression,omitempty"`
	// Line and Column are the position in the expression, starting at 1. Columns count characters.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// String returns the finding in one line. For a finding in an expression, it appends the line of the expression with a caret,
// and the hint.
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

// Lengths, in characters, of the part of a long line that is shown before the caret and in total.
const (
	shownBefore = 60
	shown       = 100
)

// Excerpt returns the line of the expression, or the part of it around the position, with a caret below.
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
