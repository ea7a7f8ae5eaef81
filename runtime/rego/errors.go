package rego

import (
	"errors"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
)

// SettingError is an invalid setting of guardrails.
type SettingError struct {
	// Field is the path within the settings, as in G-TTL.min.
	Field string
	// Message describes the problem.
	Message string
}

func (e *SettingError) Error() string { return e.Field + ": " + e.Message }

// errBundle returns an error for each invalid place in the bundle.
func errBundle(err error) error {
	places, ok := errors.AsType[ast.Errors](err)
	if !ok {
		return fmt.Errorf("bundle: %w", err)
	}
	errs := make([]error, len(places))
	for i, place := range places {
		errs[i] = fmt.Errorf("bundle: %w", place)
	}
	return errors.Join(errs...)
}

func errObject(err error) error { return fmt.Errorf("cannot be read as an object: %w", err) }
