package rego

import (
	"cmp"
	"fmt"
	"strings"
)

// Finding is one thing that the bundle has to say about an object.
type Finding struct {
	// ID is that of the rule that found it, as in F3 or G-TTL.
	ID string
	// Field is the path from the object, as in spec.podFailurePolicy.rules[0].action.
	Field string
	// Type is the name of an error type of apimachinery's package field, as in FieldValueInvalid; warnings and guardrails
	// have their own.
	Type string
	// Detail is the API server's text, and Message what kubectl prints: field, type, value and detail.
	Detail, Message string
	// Severity is error or warning.
	Severity string
}

const (
	severityError   = "error"
	severityWarning = "warning"
)

// findings reads what an entrypoint answered. They are of this severity unless they say so themselves.
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

// Sentence returns the message without the field and the guardrail's id, for who says them in another way.
func (f Finding) Sentence() string {
	sentence := strings.TrimPrefix(f.Message, f.Field+": ")
	return strings.TrimPrefix(sentence, "Guardrail "+f.ID+": ")
}
