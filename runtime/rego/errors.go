package rego

import (
	"errors"
	"fmt"
	"strings"
	"time"

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

func errNoEntrypoint(entrypoint string) error {
	return fmt.Errorf("bundle: no rule %s in it", entrypoint)
}

func errUndefined(entrypoint string) error {
	return fmt.Errorf("bundle: %s is undefined for this object", entrypoint)
}

func errLimit(entrypoint string, limit time.Duration) error {
	return fmt.Errorf("bundle: %s gives no answer within %s, and was stopped", entrypoint, limit)
}

func errAnswer(entrypoint string, err error) error {
	return fmt.Errorf("bundle: %s does not answer with findings: %w", entrypoint, err)
}

func errNotFindings(got any) error { return fmt.Errorf("%T is no list", got) }

func errNotFinding(index int) error { return fmt.Errorf("element %d is no object", index) }

func errFindingField(index int, name string) error {
	return fmt.Errorf("element %d: %s is no string, or missing", index, name)
}

func errObject(err error) error { return fmt.Errorf("cannot be read as an object: %w", err) }

func errDataPath(path []string) error {
	return &DataError{Field: strings.Join(path, "."), Message: "must be an object, as in the bundle"}
}

// errUnread is about data that cannot have an effect. The path that was meant is empty when none is known.
func errUnread(path []string, meant string) error {
	message := "no rule of the bundle reads it"
	if meant != "" {
		message += ", did you mean " + meant + "?"
	}
	return &DataError{Field: strings.Join(path, "."), Message: message}
}
