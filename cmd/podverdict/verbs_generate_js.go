//go:build generate

package main

import (
	"io"

	"github.com/spf13/cobra"
)

// newPageVerbs returns the verbs that write files for other tools.
func newPageVerbs(io.Writer) []*cobra.Command {
	generate := &cobra.Command{Use: "generate"}
	generate.AddCommand(newGenerateVAP())
	return []*cobra.Command{generate}
}
