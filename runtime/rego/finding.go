package rego

import (
	"cmp"
	"fmt"
	"strings"
)

// Finding is one finding of the bundle about an object.
type Finding struct {
	// ID is the id of the rule, such as F3 or G-TTL.
	ID string
	// Field is the path in the object, such as spec.podFailurePolicy.rules[0].action.
	Field string
	// Type is the name of an error type in apimachinery's package field, such as FieldValueInvalid; warnings and guardrails
	// have types of their own.
	Type string
	// Detail is the API server's text; Message is the text that kubectl prints: field, type, value and detail.
	Detail, Message string
	// Severity is error or warning.
	Severity string
}

const (
	severityError   = "error"
	severityWarning = "warning"
)

// findings decodes the value of an entrypoint. Findings without a severity get the standard severity.
func findings(answer any, standard string) ([]Finding, error) {
	elements, ok := answer.([]any)
	if !ok {
		return nil, fmt.Errorf("%T is no list", answer)
	}
	found := make([]Finding, len(elements))
	for i, element := range elements {
		object, ok := element.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("element %d is no object", i)
		}
		for _, member := range []struct {
			name string
			into *string
		}{
			{"id", &found[i].ID},
			{"field", &found[i].Field},
			{"type", &found[i].Type},
			{"detail", &found[i].Detail},
			{"msg", &found[i].Message},
		} {
			if *member.into, ok = object[member.name].(string); !ok {
				return nil, fmt.Errorf("element %d: %s is no string, or missing", i, member.name)
			}
		}
		severity, _ := object["severity"].(string)
		found[i].Severity = cmp.Or(severity, standard)
	}
	return found, nil
}

// Sentence returns the message without the field and the guardrail's id, for callers that show these separately.
func (f Finding) Sentence() string {
	sentence := strings.TrimPrefix(f.Message, f.Field+": ")
	return strings.TrimPrefix(sentence, "Guardrail "+f.ID+": ")
}
