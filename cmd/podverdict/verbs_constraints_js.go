//go:build constraints

package main

import (
	"io"

	"github.com/spf13/cobra"
)

// newPageVerbs returns the verbs that need the Rego bundle or the API server's own CEL.
func newPageVerbs(stdout io.Writer) []*cobra.Command {
	generate := &cobra.Command{Use: "generate"}
	generate.AddCommand(newGenerateVAP())
	return []*cobra.Command{newCheck(stdout), newSimulate(), generate}
}
