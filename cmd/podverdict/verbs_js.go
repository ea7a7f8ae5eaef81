//go:build !constraints

package main

import (
	"io"

	"github.com/spf13/cobra"
)

// newPageVerbs returns the verbs that do without the Rego bundle.
func newPageVerbs(stdout io.Writer) []*cobra.Command {
	return []*cobra.Command{newEval(stdout), newExplain(), newDiff(stdout), newCompile()}
}
