package findings

import (
	"errors"
	"io"
)

// writeSARIF returns an error: code hosts read SARIF, but web pages do not.
func (Report) writeSARIF(io.Writer) error { return errors.New("a page writes no SARIF") }
