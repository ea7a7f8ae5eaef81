package rego

import (
	"errors"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// DataError is a value in the user's data that the bundle cannot use.
type DataError struct {
	// Field is the path within the data, as in podverdict.config.guardrails.G-TTL.min.
	Field string
	// Message says what is wrong with it.
	Message string
}

func (e *DataError) Error() string { return e.Field + ": " + e.Message }

var errNoModules = errors.New("bundle: no policies in it")

// errBundle has one error for each place in the bundle that is wrong.
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

// errUnread returns the error of data that cannot have an effect. The path that was meant is empty when none is known.
func errUnread(path []string, meant string) error {
	message := "no rule of the bundle reads it"
	if meant != "" {
		message += ", did you mean " + meant + "?"
	}
	return &DataError{Field: strings.Join(path, "."), Message: message}
}
