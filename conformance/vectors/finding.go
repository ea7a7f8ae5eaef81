package vectors

import (
	"cmp"
	"strings"
)

// Finding is one finding about a Job or CronJob.
type Finding struct {
	// ID is the id of the constraint or guardrail, such as F3 or G-TTL.
	ID string `json:"id"`
	// Field is the path in the object, such as spec.podFailurePolicy.rules[0].action.
	Field string `json:"field"`
	// Type is a field.ErrorType, or TypeWarning. Guardrails have none.
	Type string `json:"type,omitempty"`
	// Detail is the API server's text. Guardrails have none.
	Detail string `json:"detail,omitempty"`
	// Message is what kubectl prints: field, type, value and detail.
	Message string `json:"msg"`
	// Severity is error or warning.
	Severity string `json:"severity,omitempty"`
}

// TypeWarning is the Type of warnings.
const TypeWarning = "Warning"

const (
	severityError   = "error"
	severityWarning = "warning"
)

func compareFindings(a, b Finding) int {
	return cmp.Or(
		strings.Compare(a.Field, b.Field), strings.Compare(a.ID, b.ID), strings.Compare(a.Type, b.Type),
		strings.Compare(a.Detail, b.Detail), strings.Compare(a.Message, b.Message), strings.Compare(a.Severity, b.Severity),
	)
}
