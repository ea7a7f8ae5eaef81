package custom

import (
	"github.com/google/cel-go/cel"

	"github.com/podverdict/podverdict/compiler/custom/native"
)

// expression is one that has been compiled.
type expression struct {
	place  place
	native native.Expression
	words  vocabulary
	// program is for CEL's interpreter.
	program func() (cel.Program, error)
}
