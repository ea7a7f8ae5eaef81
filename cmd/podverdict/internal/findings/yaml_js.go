//go:build !constraints

package findings

import (
	"errors"
	"io"
)

// WriteYAML fails: the page asks for no YAML, and is smaller without what writes it.
func WriteYAML(io.Writer, any) error { return errors.New("a page writes no YAML") }
