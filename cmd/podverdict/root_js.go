package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
)

// newRoot returns the command with the verbs that a page has. It has no template for help, which would link all methods of all types.
func newRoot(_ string, stdout io.Writer) *cobra.Command {
	root := &cobra.Command{Use: "podverdict", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(newPageVerbs(stdout)...)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(cli.WithHelp)
	root.SetGlobalNormalizationFunc(formatAlias)
	return root
}
