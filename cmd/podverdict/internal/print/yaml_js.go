//go:build !constraints

package print

import (
	"errors"
	"io"
)

// YAML fails: the page asks for no YAML, and is smaller without what writes it.
func YAML(io.Writer, any) error { return errors.New("a page writes no YAML") }
