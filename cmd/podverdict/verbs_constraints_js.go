//go:build constraints

package main

import (
	"io"

	"github.com/spf13/cobra"
)

// newPageVerbs returns the verbs that ask the Rego bundle, and the one that writes suites.
func newPageVerbs(stdout io.Writer) []*cobra.Command {
	suites := &cobra.Command{Use: "test"}
	suites.AddCommand(newTestInit())
	return []*cobra.Command{newCheck(stdout), newSimulate(), suites}
}
