//go:build constraints

package main

import (
	"io"

	"github.com/spf13/cobra"
)

// newPageVerbs returns the verbs that ask the Rego bundle.
func newPageVerbs(stdout io.Writer) []*cobra.Command {
	return []*cobra.Command{newCheck(stdout), newLint(stdout), newSimulate()}
}
