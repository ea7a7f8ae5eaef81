package findings

import (
	"errors"
	"io"
)

// writeSARIF fails: code hosts read SARIF, and nothing in a page does.
func (Report) writeSARIF(io.Writer) error { return errors.New("a page writes no SARIF") }
