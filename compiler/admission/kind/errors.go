package kind

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/podverdict/podverdict/internal/didyoumean"
)

// PathError is an error in a field path.
type PathError struct {
	Path string
	// Offset is the position of the error in the path, in bytes.
	Offset int
	Err    error
}

// Error returns the message, and the path with a caret below the error.
func (e *PathError) Error() string {
	return fmt.Sprintf("field path, column %d: %v\n%s", e.Offset+1, e.Err, didyoumean.Caret(e.Path, e.Offset))
}

func (e *PathError) Unwrap() error { return e.Err }

func errNoName() error { return errors.New("a field name is missing") }

func errNameCharacter(rest string) error {
	wrong, _ := utf8.DecodeRuneInString(rest)
	return fmt.Errorf("%q cannot be part of a field name", wrong)
}

// errNoField returns an error that suggests the most similar field name, or lists all fields.
func errNoField(kind, at, name string, s *spec.Schema) error {
	place := kind
	if at != "" {
		place = at + " of " + kind
	}
	names := fieldNames(s)
	if len(names) == 0 {
		return fmt.Errorf("%s has no field %q: it is of type %s", place, name, typeName(s))
	}
	if meant := didyoumean.Name(name, names); meant != "" {
		return fmt.Errorf("%s has no field %q, %s", place, name, didyoumean.DidYouMean(meant))
	}
	return fmt.Errorf("%s has no field %q, it has %s", place, name, strings.Join(names, ", "))
}

func errNoJobSpec(missing ...string) error {
	return fmt.Errorf("is no Job spec: it has no %s", strings.Join(missing, " or "))
}
