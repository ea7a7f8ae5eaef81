package vectors

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
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

// errorTypes returns the types of errors that constraints report.
func errorTypes() []field.ErrorType {
	return []field.ErrorType{
		field.ErrorTypeInvalid, field.ErrorTypeRequired, field.ErrorTypeNotSupported,
		field.ErrorTypeDuplicate, field.ErrorTypeTooMany, field.ErrorTypeTooLong,
	}
}

// checkError returns an error if a finding in errors.yaml breaks the contract.
func (f *Finding) checkError() error {
	if err := f.checkNames(); err != nil {
		return err
	}
	kind := field.ErrorType(f.Type)
	if !slices.Contains(errorTypes(), kind) {
		return fmt.Errorf("field %q cannot be %q", "type", f.Type)
	}
	if f.Severity != "" {
		return errors.New(`field "severity" does not apply: all errors are errors`)
	}
	f.Severity = severityError
	return f.checkMessage(f.Field+": "+kind.String(), f.Detail)
}

// checkWarning returns an error if a finding in warnings.yaml breaks the contract.
func (f *Finding) checkWarning() error {
	if err := f.checkNames(); err != nil {
		return err
	}
	if f.Type != "" || f.Severity != "" {
		return errors.New(`field "type or severity" does not apply: all warnings are warnings`)
	}
	f.Type, f.Severity = TypeWarning, severityWarning
	return f.checkMessage(f.Field+": ", f.Detail)
}

// checkGuardrail returns an error if a finding in findings.yaml breaks the contract.
func (f *Finding) checkGuardrail() error {
	if err := f.checkNames(); err != nil {
		return err
	}
	if f.Type != "" || f.Detail != "" {
		return errors.New(`field "type or detail" does not apply: guardrails have none`)
	}
	if f.Severity != severityError && f.Severity != severityWarning {
		return fmt.Errorf("field %q cannot be %q", "severity", f.Severity)
	}
	return f.checkMessage(f.Field+": Guardrail "+f.ID+": ", "")
}

func (f *Finding) checkNames() error {
	switch {
	case f.ID == "":
		return errors.New(`field "id" is required`)
	case f.Field == "":
		return errors.New(`field "field" is required`)
	}
	return nil
}

func (f *Finding) checkMessage(prefix, suffix string) error {
	if !strings.HasPrefix(f.Message, prefix) || !strings.HasSuffix(f.Message, suffix) {
		return fmt.Errorf("msg %q is not that of its field and detail: want %s", f.Message, prefix+"..."+suffix)
	}
	return nil
}

func compareFindings(a, b Finding) int {
	return cmp.Or(
		strings.Compare(a.Field, b.Field), strings.Compare(a.ID, b.ID), strings.Compare(a.Type, b.Type),
		strings.Compare(a.Detail, b.Detail), strings.Compare(a.Message, b.Message), strings.Compare(a.Severity, b.Severity),
	)
}
