package compiler

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Severity is how sure a finding is to hurt.
type Severity string

const (
	// Error is a rule that cannot do what it says.
	Error Severity = "error"
	// Warning is a rule that may do what its author did not mean.
	Warning Severity = "warning"
)

// Checks of Lint, as named in its findings.
const (
	CheckUnreachable     = "unreachable-rule"
	CheckShadowed        = "shadowed-rule"
	CheckDisruptionOrder = "disruption-after-exit-codes"
	CheckSidecar         = "sidecar-exit-code"
	CheckUnboundedIgnore = "unbounded-ignore"
	CheckFailIndexLimit  = "fail-index-without-limit"
	CheckExitCode        = "exit-code-out-of-range"
	CheckMisspelt        = "misspelt-word"
)

// Finding is one thing that Lint has to say about a rule.
type Finding struct {
	Check    string   `json:"check"`
	Severity Severity `json:"severity"`
	// Rule is the index of the rule.
	Rule int `json:"rule"`
	// Field is the path from the Job, as in
	// spec.podFailurePolicy.rules[1].onExitCodes.
	Field   string `json:"field"`
	Message string `json:"message"`
	// Hint says what to do about it.
	Hint string `json:"hint"`
}

func (f Finding) String() string {
	return fmt.Sprintf("%s: %s: %s (%s)", f.Field, f.Severity, f.Message, f.Check)
}

func rulePath(i int) *field.Path {
	return field.NewPath("spec", "podFailurePolicy", "rules").Index(i)
}
